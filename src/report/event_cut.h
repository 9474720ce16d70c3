// SPDX-License-Identifier: Apache-2.0
// Counted events of a part of a run's time, from what was counted slice by slice. Any thread.
#pragma once

#include "record/recording.h"

namespace fathom {

// Where the recording is cut (Recording::between), counts in `tables` become those of the slices
// that begin in that time; what is known of the whole run only is left out.
Status cut_event_counts(const Recording& recording, Collected& tables);

}  // namespace fathom
