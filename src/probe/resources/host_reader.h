// SPDX-License-Identifier: Apache-2.0
// Gauges of the whole machine, beside the tree's, so that a busy neighbour is seen.
#pragma once

#include "probe/resources/gauge_writer.h"

namespace fathom {

void write_host_gauges(GaugeWriter& gauges);

}  // namespace fathom
