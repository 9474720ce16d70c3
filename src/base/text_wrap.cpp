// SPDX-License-Identifier: Apache-2.0
#include "base/text_wrap.h"

#include <algorithm>

#include "base/text.h"

namespace fathom {

std::string wrap(std::string_view text, size_t columns, size_t indent, LongWord long_word) {
  std::string out;
  size_t used = indent;
  const size_t room = columns - std::min(columns, indent);
  for (const std::string_view whole : split_words(text)) {
    const std::string word =
        long_word == LongWord::kCut ? fit(whole, room, Cut::kMiddle) : std::string(whole);
    const size_t width = display_width(word);
    if (out.empty()) {
      used = indent + width;
    } else if (used + 1 + width <= columns) {
      out += ' ';
      used += 1 + width;
    } else {
      out += '\n' + std::string(indent, ' ');
      used = indent + width;
    }
    out += word;
  }
  return out;
}

}  // namespace fathom
