// SPDX-License-Identifier: Apache-2.0
// Functions of Python programs, by the interpreter's own hooks: a start-up file that is put into
// PYTHONPATH (inject/python) counts every call, or samples. See README.md.
#pragma once

#include "probe/probe.h"

namespace fathom {

std::unique_ptr<Probe> make_python_probe(const ProbeSettings& settings);
std::vector<Rung> examine_python();

}  // namespace fathom
