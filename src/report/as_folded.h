// SPDX-License-Identifier: Apache-2.0
// Recordings beside folded stacks: these have no event, weight, module or thread, so that samples
// of recordings are made the same before both are added up or compared. Pure function: any thread.
#pragma once

#include <memory>

#include "report/sample_filter.h"

namespace fathom {

// The samples that pass, source by source: below a frame of their process's name, frames by name
// and kind alone, each sample with the weight 1 and of the event `passes.event()`.
std::unique_ptr<SampleSums> as_folded(const SampleSums& sums, const SourceTables& tables,
                                      const SampleFilter& passes);

}  // namespace fathom
