// SPDX-License-Identifier: Apache-2.0
// The journal as a sink. A thread of its own writes and syncs, so that a slow disk never holds up
// the recorder: frames wait in a bounded queue, and what does not fit is dropped and counted.
#pragma once

#include "sink/sink.h"

namespace fathom {

// `where` is the journal file to make.
Result<std::unique_ptr<Sink>> open_file_sink(const std::string& where);

}  // namespace fathom
