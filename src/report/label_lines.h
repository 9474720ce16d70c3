// SPDX-License-Identifier: Apache-2.0
// Screens of facts: lines of "Label     part · part · part" that fit the terminal, or are kept as
// they are for formats that wrap by themselves, and how their figures are worded. The lines write
// to a text or a list of the caller's; pure functions otherwise. One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text_style.h"
#include "report/report.h"

namespace fathom {

constexpr std::string_view kDot = " · ";

struct LabelLine {
  std::string label;  // empty: it goes on
  std::vector<std::string> parts;
  Style style = Style::kPlain;
};

class LabelLines {
 public:
  LabelLines(const ReportOptions& options, std::string& text) : options_(&options), text_(&text) {}
  // Not laid out.
  explicit LabelLines(std::vector<LabelLine>& kept) : kept_(&kept) {}

  // Wrapped between parts; a part that is too wide is cut. Nothing where there are none.
  void add(std::string_view label, const std::vector<std::string>& parts,
           Style style = Style::kPlain);
  // Wrapped between words.
  void add_prose(std::string_view label, std::string_view prose, Style style);

 private:
  void write(std::string_view label, const std::vector<std::string>& parts, Style style);

  const ReportOptions* options_ = nullptr;
  std::string* text_ = nullptr;
  std::vector<LabelLine>* kept_ = nullptr;
};

// "<0.1 %", "3.2 %", "57 %".
std::string percent(double share);
// 0 where there is no whole.
double ratio(int64_t part, int64_t whole);
// "nothing dropped", "5 calls dropped"; `damage` is the recording's.
std::string dropped_text(int64_t dropped, std::string_view what, std::string_view damage);
// The same of one probe's calls: "at least 5 calls dropped" where the recorder could not write
// records that may be the probe's.
std::string dropped_calls_text(int64_t dropped, std::string_view damage);
// Something may be lost: such a line is a warning.
bool is_lossy(int64_t dropped, std::string_view damage);
// "1 process", "1,204 processes".
std::string plural(int64_t count, std::string_view one, std::string_view many);

}  // namespace fathom
