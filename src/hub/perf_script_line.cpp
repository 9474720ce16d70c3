// SPDX-License-Identifier: Apache-2.0
#include "hub/perf_script_line.h"

#include "base/scan.h"
#include "base/text.h"
#include "hub/contribution.h"

namespace fathom {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of(kDigits) == std::string_view::npos;
}

// "45.678901:".
bool is_time(std::string_view word) {
  if (!word.ends_with(':')) return false;
  word.remove_suffix(1);
  const size_t point = word.find('.');
  return point != std::string_view::npos && is_number(word.substr(0, point)) &&
         is_number(word.substr(point + 1));
}

// What "(file)" at the end of `text` names; takes it off. Parentheses in a file name are balanced.
std::string_view take_file(std::string_view& text) {
  if (!text.ends_with(')')) return {};
  int depth = 0;
  for (size_t at = text.size(); at-- > 0;) {
    depth += text[at] == ')' ? 1 : text[at] == '(' ? -1 : 0;
    if (depth != 0) continue;
    std::string_view file = text.substr(at + 1, text.size() - at - 2);
    text = trimmed(text.substr(0, at));
    constexpr std::string_view kDeleted = " (deleted)";
    if (file.ends_with(kDeleted)) file.remove_suffix(kDeleted.size());
    return file;
  }
  return {};
}

}  // namespace

std::optional<PerfScriptSample> parse_perf_script_line(std::string_view line) {
  while (line.ends_with('\n')) line.remove_suffix(1);
  std::string_view rest = trimmed(line);
  int words = 0;  // command and pid, at least
  for (std::string_view word = take_word(rest); !is_time(word) || words < 2;
       word = take_word(rest), ++words)
    if (word.empty()) return std::nullopt;
  const auto count = parse_number(take_word(rest));
  std::string_view event = take_word(rest);
  const std::string_view address = take_word(rest);
  if (!count.ok() || event.size() < 2 || !event.ends_with(':') ||
      address.find_first_not_of("0123456789abcdefx") != std::string_view::npos)
    return std::nullopt;
  event.remove_suffix(1);
  rest = trimmed(rest);
  const std::string_view file = take_file(rest);
  if (file.empty() || rest.empty()) return std::nullopt;
  return PerfScriptSample{rest, program_of(file), event, count.value()};
}

}  // namespace fathom
