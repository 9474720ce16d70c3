// SPDX-License-Identifier: Apache-2.0
// Batches in binary form: a body of whole frames, one after the other, as a journal has them
// (docs/formats/journal.md). Each is one sequence. Hostile input: every size is bounded before
// memory is taken. Pure function: any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/contribution.h"

namespace fathom {

constexpr size_t kMostFramesInBody = 1024;
constexpr size_t kMaxRawBytesInBody = size_t{256} << 20;  // of all its frames when decompressed

// What the frames of `body` claim to be when decompressed, up to the first malformed header.
size_t raw_size_of_frames(std::string_view body);

// `real_offset_ns` is what makes times of day of the frames' times. kCorrupt for what is no frame.
Result<std::vector<Contribution>> contributions_of_frames(std::string_view body,
                                                          const RowOrigin& origin,
                                                          int64_t real_offset_ns);

}  // namespace fathom
