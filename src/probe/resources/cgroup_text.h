// SPDX-License-Identifier: Apache-2.0
// Numbers in the text files of cgroups. Stateless and thread-safe.
#pragma once

#include <charconv>
#include <string_view>

#include "record/records.h"

namespace fathom {

// The number at the start of the text.
inline Maybe number_of(std::string_view text) {
  int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
    return std::nullopt;
  return value;
}

// The number after `name` and a blank or '=' in a text of such pairs, at the start of a line or
// after a blank.
inline Maybe find_number(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || text[at - 1] == '\n' || text[at - 1] == ' ';
    const size_t end = at + name.size();
    if (starts && end < text.size() && (text[end] == ' ' || text[end] == '='))
      return number_of(text.substr(end + 1));
  }
  return std::nullopt;
}

}  // namespace fathom
