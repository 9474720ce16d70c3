// SPDX-License-Identifier: Apache-2.0
// What a program asks of the CUDA driver, and what GPUs say of themselves. See README.md.
#pragma once

#include <memory>
#include <vector>

#include "probe/probe.h"

namespace fathom {

std::unique_ptr<Probe> make_cuda_probe(const ProbeSettings& settings);
std::vector<Rung> examine_cuda();

}  // namespace fathom
