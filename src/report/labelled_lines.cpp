// SPDX-License-Identifier: Apache-2.0
#include "report/labelled_lines.h"

#include <fmt/format.h>

#include "base/text.h"

namespace fathom {
namespace {

constexpr size_t kLabelColumns = 10;
constexpr size_t kIndent = 2 + kLabelColumns;

}  // namespace

void LabelledLines::add(std::string_view label, const std::vector<std::string>& parts,
                        Style style) {
  if (parts.empty()) return;
  if (kept_ != nullptr) {
    kept_->push_back({std::string(label), parts, style});
  } else {
    write(label, parts, style);
  }
}

void LabelledLines::write(std::string_view label, const std::vector<std::string>& parts,
                          Style style) {
  std::string& text = *text_;
  text += "  " + styled(Style::kHeading, fmt::format("{:<{}}", label, kLabelColumns), colours_);
  size_t used = kIndent;
  bool first = true;
  for (const std::string& whole : parts) {
    const std::string part = fit(whole, columns_ - kIndent);
    const size_t width = display_width(part);
    if (!first && used + display_width(kPartDot) + width > columns_) {
      text += "\n" + std::string(kIndent, ' ');
      used = kIndent;
    } else if (!first) {
      text += kPartDot;
      used += display_width(kPartDot);
    }
    text += styled(style, part, colours_);
    used += width;
    first = false;
  }
  text += "\n";
}

void LabelledLines::add_prose(std::string_view label, std::string_view prose, Style style) {
  if (kept_ != nullptr) return add(label, {std::string(prose)}, style);
  std::vector<std::string> lines(1);
  for (const std::string_view word : split_words(prose)) {
    std::string& line = lines.back();
    if (!line.empty() && display_width(line) + 1 + display_width(word) > columns_ - kIndent) {
      lines.emplace_back(word);
    } else {
      line += (line.empty() ? "" : " ") + std::string(word);
    }
  }
  for (size_t i = 0; i < lines.size(); ++i) add(i == 0 ? label : "", {lines[i]}, style);
}

}  // namespace fathom
