// SPDX-License-Identifier: Apache-2.0
#include "import/folded_importer.h"

#include <fmt/format.h>

#include "base/gzip.h"
#include "base/text.h"
#include "import/folded_line.h"
#include "import/folded_reader.h"

namespace fathom {
namespace {

constexpr size_t kMaxLineBytes = size_t{64} << 20;

Frame frame_of(std::string_view text, Interner& names) {
  const FoldedFrame folded = parse_folded_frame(text);
  Frame frame;
  frame.kind = folded.kind;
  frame.symbol = names.string(folded.name);
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
  return first.find('\0') == std::string_view::npos && parse_folded_line(first).has_value();
}

Error not_folded(const std::string& path, std::string_view start) {
  constexpr const char* kForm =
      "a line of folded stacks is frames joined by ';', a blank and a count: main;work;read 17";
  if (start.empty()) return Error{Code::kCorrupt, path + " is empty", kForm};
  if (start.find('\0') != std::string_view::npos) {
    return Error{Code::kCorrupt,
                 path + " is neither a recording nor text: it holds bytes that no text has",
                 "a recording is a folder NAME.fathom; other formats: fathom import --help"};
  }
  int64_t number = 1;
  std::string_view line = start.substr(0, start.find('\n'));
  while (line.empty() && start.size() > 1) {
    start.remove_prefix(1);
    line = start.substr(0, start.find('\n'));
    ++number;
  }
  return Error{Code::kCorrupt,
               fmt::format("{}, line {}: '{}' does not end in a count", path, number,
                           fit(printable(line), 40)),
               kForm};
}

Result<ImportCounts> import_folded(const std::string& path, RecordStream& out) {
  TRY_ASSIGN(UnpackedLines file, UnpackedLines::open(path));
  ImportCounts counts;
  for (std::string text; file.next(text, kMaxLineBytes);) {
    if (text.empty()) continue;
    const auto line = parse_folded_line(text);
    if (!line) {
      if (++counts.skipped == 1) counts.first_skipped = file.lines();
      continue;
    }
    ++counts.lines;
    Sample sample;
    sample.event = out.string(kFoldedEvent);
    sample.state = out.string("on-cpu");
    sample.stack = stack_of(line->stack, out.names());
    sample.weight = line->count;
    out.add(sample);
  }
  TRY(file.check());
  if (counts.lines == 0) return Error{Code::kCorrupt, path + " holds no folded stack"};
  return counts;
}

}  // namespace fathom
