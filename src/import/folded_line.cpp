// SPDX-License-Identifier: Apache-2.0
#include "import/folded_line.h"

#include <charconv>

namespace fathom {

std::optional<FoldedLine> parse_folded_line(std::string_view text) {
  while (text.ends_with('\r') || text.ends_with(' ')) text.remove_suffix(1);
  const size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  FoldedLine line{text.substr(0, blank), 0};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + blank + 1, end, line.count);
  if (error != std::errc() || stop != end || line.count <= 0) return std::nullopt;
  return line;
}

FoldedFrame parse_folded_frame(std::string_view text) {
  FoldedFrame frame{text};
  for (const FrameKind kind : {FrameKind::kKernel, FrameKind::kInlined, FrameKind::kJava}) {
    if (text.ends_with(folded_suffix(kind))) frame.kind = kind;
  }
  frame.name.remove_suffix(folded_suffix(frame.kind).size());
  return frame;
}

std::string_view folded_suffix(FrameKind kind) {
  switch (kind) {
    case FrameKind::kKernel:
      return "_[k]";
    case FrameKind::kInlined:
      return "_[i]";
    case FrameKind::kJava:
      return "_[j]";
    default:
      return {};
  }
}

}  // namespace fathom
