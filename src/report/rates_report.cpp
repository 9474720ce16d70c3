// SPDX-License-Identifier: Apache-2.0
#include "report/rates_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"
#include "report/io_text.h"
#include "report/profile.h"
#include "report/profile_text.h"
#include "report/rate_steps.h"
#include "report/share_interval.h"
#include "report/text_table.h"

namespace fathom {
namespace {

constexpr size_t kUsualRows = 30;
constexpr size_t kIntervalColumns = 76;  // fewer leave no place for intervals

// What is flagged comes first.
std::vector<FunctionRates> ordered(const Profile& profile) {
  std::vector<FunctionRates> found = rates_of_functions(profile);
  std::stable_partition(found.begin(), found.end(),
                        [](const FunctionRates& function) { return function.in_step; });
  return found;
}

}  // namespace

Status write_rates_report(ProfileSources sources, const ReportOptions& options) {
  ProfileFilter filter = options.filter;
  filter.keep_parts = true;
  TRY_ASSIGN(const Profile profile, load_profile(sources, filter));
  if (profile.rates_hz.size() < 2) {
    return Error{Code::kNotFound, "samples of one rate only: nothing to compare",
                 "record several at once: fathom run --freq 99,444,999 -- COMMAND"};
  }
  std::vector<int64_t> samples(profile.rates_hz.size());
  for (const NodeSamples& part : profile.parts) {
    const uint32_t rate = profile.groups[part.group].rate_hz;
    const auto at = std::find(profile.rates_hz.begin(), profile.rates_hz.end(), rate);
    if (at != profile.rates_hz.end())
      samples[static_cast<size_t>(at - profile.rates_hz.begin())] += part.self.samples;
  }
  std::vector<std::string> titles;
  titles.reserve(profile.rates_hz.size());
  for (const uint32_t rate : profile.rates_hz) titles.push_back(fmt::format("at {} Hz", rate));
  std::vector<TextColumn> columns;
  columns.reserve(titles.size() + 2);
  for (size_t i = 0; i < titles.size(); ++i)  // two to compare stay, however narrow it is
    columns.push_back({titles[i].c_str(), Side::kRight, i < 2 ? 0 : static_cast<int>(i)});
  const bool narrow = options.columns < kAnyWidth;
  const bool without_intervals = options.columns < kIntervalColumns;
  columns.push_back({narrow ? "in step" : "", Side::kLeft});
  columns.push_back({"function", Side::kLeft, 0, 14});
  TextTable table(columns);
  const std::vector<FunctionRates> found = ordered(profile);
  const size_t limit = options.limit.value_or(kUsualRows);
  const size_t rows = limit == 0 ? found.size() : std::min(limit, found.size());
  for (size_t i = 0; i < rows; ++i) {
    std::vector<std::string> cells;
    for (size_t rate = 0; rate < samples.size(); ++rate) {
      const double share = found[i].rates[rate].share;
      std::string cell = fmt::format("{:.2f} %", 100 * share);
      if (!without_intervals)
        cell += fmt::format(" ({})", interval_cell(share_interval(share, {0, samples[rate]})));
      cells.push_back(std::move(cell));
    }
    const char* words = narrow ? "" : "in step with ";
    cells.push_back(found[i].in_step ? fmt::format("{}{} Hz", words, profile.rates_hz[found[i].odd])
                                     : "");
    cells.push_back(printable(profile.functions[found[i].function].name));
    table.add(std::move(cells));
  }
  std::string text = profile_heading(profile, options) + table.write(options);
  auto names = table.left_out(options.columns);
  if (without_intervals) names.emplace_back("95 % intervals");
  if (!names.empty())
    text += footnote("a wider terminal also shows: " + join(names, ", "), options);
  if (rows < found.size())
    text +=
        fmt::format("{} more functions; --limit 0 shows all\n", format_count(found.size() - rows));
  return print_to(options.out, text);
}

}  // namespace fathom
