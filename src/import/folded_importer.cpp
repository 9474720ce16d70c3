// SPDX-License-Identifier: Apache-2.0
#include "import/folded_importer.h"

#include <charconv>
#include <fstream>
#include <optional>

namespace fathom {
namespace {

struct Line {
  std::string_view stack;
  int64_t count;
};

std::optional<Line> parse(std::string_view text) {
  while (text.ends_with('\r') || text.ends_with(' ')) text.remove_suffix(1);
  const size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  Line line{text.substr(0, blank), 0};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + blank + 1, end, line.count);
  if (error != std::errc() || stop != end || line.count <= 0) return std::nullopt;
  return line;
}

Frame frame_of(std::string_view name, Interner& names) {
  Frame frame;
  frame.kind = FrameKind::kNative;
  if (name.ends_with("_[k]")) frame.kind = FrameKind::kKernel;
  if (name.ends_with("_[i]")) frame.kind = FrameKind::kInlined;
  if (name.ends_with("_[j]")) frame.kind = FrameKind::kJava;
  if (frame.kind != FrameKind::kNative) name.remove_suffix(4);
  frame.symbol = names.string(name);
  return frame;
}

StackId stack_of(std::string_view folded, Interner& names) {
  StackId stack{};
  while (!folded.empty()) {
    const size_t end = folded.find(';');
    if (const std::string_view name = folded.substr(0, end); !name.empty()) {
      stack = names.stack(stack, names.frame(frame_of(name, names)));
    }
    if (end == std::string_view::npos) break;
    folded.remove_prefix(end + 1);
  }
  return stack;
}

}  // namespace

bool looks_folded(std::string_view start) {
  const std::string_view first = start.substr(0, start.find('\n'));
  return first.find('\0') == std::string_view::npos && parse(first).has_value();
}

Result<ImportCounts> import_folded(const std::string& path, RecordStream& out) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{Code::kNotFound, "cannot open " + path};
  ImportCounts counts;
  for (std::string text; std::getline(file, text);) {
    if (text.empty()) continue;
    const auto line = parse(text);
    if (!line) {
      ++counts.skipped;
      continue;
    }
    ++counts.lines;
    Sample sample;
    sample.event = out.string("samples");
    sample.state = out.string("on-cpu");
    sample.stack = stack_of(line->stack, out.names());
    sample.weight = line->count;
    out.add(sample);
  }
  if (counts.lines == 0) return Error{Code::kCorrupt, path + " holds no folded stack"};
  return counts;
}

}  // namespace fathom
