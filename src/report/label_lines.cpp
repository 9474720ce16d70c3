// SPDX-License-Identifier: Apache-2.0
#include "report/label_lines.h"

#include <fmt/format.h>

#include "base/text.h"
#include "record/recording.h"

namespace fathom {
namespace {

constexpr size_t kLabelColumns = 10;
constexpr size_t kIndent = 2 + kLabelColumns;

}  // namespace

void LabelLines::add(std::string_view label, const std::vector<std::string>& parts, Style style) {
  if (parts.empty()) return;
  if (kept_ != nullptr) {
    kept_->push_back({std::string(label), parts, style});
  } else {
    write(label, parts, style);
  }
}

void LabelLines::write(std::string_view label, const std::vector<std::string>& parts, Style style) {
  std::string& text = *text_;
  text += "  " +
          styled(Style::kHeading, fmt::format("{:<{}}", label, kLabelColumns), options_->colours);
  size_t used = kIndent;
  bool first = true;
  for (const std::string& whole : parts) {
    // A line of a file may have any width.
    const std::string part =
        options_->columns < kAnyWidth ? fit(whole, options_->columns - kIndent) : whole;
    const size_t width = display_width(part);
    if (!first && used + display_width(kDot) + width > prose_columns(*options_)) {
      text += "\n" + std::string(kIndent, ' ');
      used = kIndent;
    } else if (!first) {
      text += kDot;
      used += display_width(kDot);
    }
    text += styled(style, part, options_->colours);
    used += width;
    first = false;
  }
  text += "\n";
}

void LabelLines::add_prose(std::string_view label, std::string_view prose, Style style) {
  if (kept_ != nullptr) return add(label, {std::string(prose)}, style);
  std::vector<std::string> lines(1);
  for (const std::string_view word : split_words(prose)) {
    std::string& line = lines.back();
    if (!line.empty() &&
        display_width(line) + 1 + display_width(word) > prose_columns(*options_) - kIndent) {
      lines.emplace_back(word);
    } else {
      line += (line.empty() ? "" : " ") + std::string(word);
    }
  }
  for (size_t i = 0; i < lines.size(); ++i) add(i == 0 ? label : "", {lines[i]}, style);
}

std::string percent(double share) {
  return share > 0 && share < 0.001 ? "<0.1 %"
                                    : fmt::format("{:.{}f} %", share * 100, share < 0.0995 ? 1 : 0);
}

double ratio(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string dropped_text(int64_t dropped, std::string_view what, std::string_view damage) {
  const bool damaged = damage_took_records(damage);
  if (dropped == 0 && !damaged) return "nothing dropped";
  if (dropped == 0) return "some lost to damage";
  return format_count(dropped) + std::string(what) + " dropped" +
         (damaged ? ", more lost to damage" : "");
}

std::string dropped_calls_text(int64_t dropped, std::string_view damage) {
  if (!damage_left_unwritten(damage)) return dropped_text(dropped, " calls", damage);
  if (dropped == 0) return "calls may be missing";
  return "at least " + dropped_text(dropped, " calls", damage);
}

bool is_lossy(int64_t dropped, std::string_view damage) {
  return dropped > 0 || damage_took_records(damage) || damage_left_unwritten(damage);
}

std::string plural(int64_t count, std::string_view one, std::string_view many) {
  return format_count(count) + " " + std::string(count == 1 ? one : many);
}

}  // namespace fathom
