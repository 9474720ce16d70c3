// SPDX-License-Identifier: Apache-2.0
// The logs of seed 002 and of libfathom-cuda.so alone: metrics.log ("name:F,count:N,burst:US",
// "name:mem_used,count:BYTES") and timeline.log ("name:F, start:NS, burst:US, bytes:N[, kind:K]").
// Lines are known by their shape, whatever the file is called, and may be mixed. burst is in
// microseconds, start in nanoseconds since 1970.
#pragma once

#include "import/importer.h"

namespace fathom {

bool looks_like_driver_log(std::string_view start);
Result<ImportCounts> import_driver_log(const std::string& path, RecordStream& out);

}  // namespace fathom
