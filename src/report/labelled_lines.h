// SPDX-License-Identifier: Apache-2.0
// "Label     part · part · part" below each other, wrapped to fit the terminal, or kept as they are
// for formats that wrap by themselves. Owned and used by one report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text_style.h"

namespace fathom {

constexpr std::string_view kPartDot = " · ";

struct LabelledLine {
  std::string label;  // empty: it goes on
  std::vector<std::string> parts;
  Style style = Style::kPlain;
};

class LabelledLines {
 public:
  // Appends to `text`, which must outlive it.
  LabelledLines(size_t columns, bool colours, std::string& text)
      : columns_(columns), colours_(colours), text_(&text) {}
  // Appends to `kept`, which must outlive it.
  explicit LabelledLines(std::vector<LabelledLine>& kept) : kept_(&kept) {}

  // Wrapped between parts; nothing where there are none.
  void add(std::string_view label, const std::vector<std::string>& parts,
           Style style = Style::kPlain);
  // Prose, wrapped between words.
  void add_prose(std::string_view label, std::string_view prose, Style style);

 private:
  void write(std::string_view label, const std::vector<std::string>& parts, Style style);

  size_t columns_ = 0;
  bool colours_ = false;
  std::string* text_ = nullptr;
  std::vector<LabelledLine>* kept_ = nullptr;
};

}  // namespace fathom
