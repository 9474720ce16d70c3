// SPDX-License-Identifier: Apache-2.0
// A line of folded stacks, "a;b;c 17": what it says, and what its names mean. Suffixes _[k], _[i]
// and _[j] name kernel, inlined and Java frames. Pure functions: any thread.
#pragma once

#include <optional>
#include <string_view>

#include "record/dictionary.h"

namespace fathom {

struct FoldedLine {
  std::string_view stack;
  int64_t count = 0;
};
// Nothing: it has no count, or no stack.
std::optional<FoldedLine> parse_folded_line(std::string_view text);

struct FoldedFrame {
  std::string_view name;
  FrameKind kind = FrameKind::kNative;
};
FoldedFrame parse_folded_frame(std::string_view text);
// What is written behind the name of such a frame.
std::string_view folded_suffix(FrameKind kind);

}  // namespace fathom
