// SPDX-License-Identifier: Apache-2.0
// Taking numbers and words out of the kernel's text files, without copies or locales. Plain
// functions over a view that they shorten from the front: any thread.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom {

constexpr int64_t kKib = 1024;  // what the kernel's "kB" are

inline Error unreadable(std::string_view what) {
  return Error{Code::kCorrupt, "cannot make out " + std::string(what)};
}

inline void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

// Without blanks around it, nor the end of its line.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Up to the next blank or line end.
inline std::string_view take_word(std::string_view& text) {
  skip_blanks(text);
  const size_t length = std::min(text.find_first_of(" \t\n"), text.size());
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

// Without its newline; absent at the end.
inline std::optional<std::string_view> take_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const size_t length = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return line;
}

// Text is left as it was if it does not go on with a number. Beyond 64 bits signed, the highest
// one.
inline std::optional<int64_t> take_number(std::string_view& text) {
  std::string_view rest = text;
  skip_blanks(rest);
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (failed == std::errc::invalid_argument) return std::nullopt;
  if (failed == std::errc::result_out_of_range)
    number = rest.front() == '-' ? INT64_MIN : INT64_MAX;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  text = rest;
  return number;
}

inline std::optional<int64_t> to_number(std::string_view word) {
  const auto number = take_number(word);
  return word.empty() ? number : std::nullopt;
}

}  // namespace fathom
