// SPDX-License-Identifier: Apache-2.0
// A sample as a BPF program sent it, for those who unwind it.
#pragma once

#include "probe/raw_sample.h"
#include "wire/stacks.h"

namespace fathom {

// `from` is followed by its stack's bytes, of which the result is a view.
RawSample raw_sample(const WireSample& from);

}  // namespace fathom
