// SPDX-License-Identifier: Apache-2.0
#include "report/top_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"
#include "report/profile_text.h"
#include "report/share_interval.h"
#include "report/simulated_top.h"

namespace fathom {
namespace {

constexpr size_t kUsualRows = 30;
constexpr size_t kFigureColumns = 54;         // before the function's name
constexpr size_t kTotalIntervalColumns = 13;  // of these, which a narrow terminal does not have
constexpr size_t kModuleColumns = 14;
constexpr size_t kLeastNameColumns = 18;  // else there are no modules
constexpr size_t kWideNameColumns = 60;   // before the module, where a line may have any width

struct Widths {
  size_t name, module;
  size_t padded_name;  // what is wider moves its own module to the right
  bool total_interval;
  [[nodiscard]] size_t figures() const {
    return kFigureColumns - (total_interval ? 0 : kTotalIntervalColumns);
  }
};

Widths widths_of(const Profile& profile, std::span<const uint32_t> shown, size_t columns) {
  if (columns < kAnyWidth) {
    const size_t others = kLeastNameColumns + kModuleColumns + 2;
    const bool wide = columns >= kFigureColumns + others;
    const size_t figures = kFigureColumns - (wide ? 0 : kTotalIntervalColumns);
    if (columns < figures + others) {
      const size_t name = std::max(columns, figures + kLeastNameColumns / 2) - figures;
      return {name, 0, name, wide};
    }
    const size_t name = columns - figures - kModuleColumns - 2;
    return {name, kModuleColumns, name, wide};
  }
  size_t longest = 0;
  for (const uint32_t i : shown)
    longest = std::max(longest, display_width(printable(profile.functions[i].name)));
  return {kAnyWidth, kAnyWidth, std::clamp(longest, sizeof "function" - 1, kWideNameColumns), true};
}

std::string row(const Profile& profile, const Function& function, const Widths& widths,
                bool colours) {
  const double self = profile.share(function.self.weight);
  const double total = profile.share(function.total.weight);
  std::string figures =
      fmt::format("{:>6.2f} % {:>12} {:>6.2f} % ", 100 * self,
                  interval_cell(share_interval(self, profile.total)), 100 * total);
  if (widths.total_interval)
    figures += fmt::format("{:>12} ", interval_cell(share_interval(total, profile.total)));
  figures += fmt::format("{:>8}  ", format_count(function.self.samples));
  std::string module(module_name(function.module));
  if (module.empty() || function.kind == FrameKind::kInlined) module = kind_text(function);
  const std::string name = fit_name(printable(function.name), widths.name);
  if (module.empty() || widths.module == 0)
    return figures + styled(Style::kName, name, colours) + "\n";
  return figures + styled(Style::kName, pad(name, widths.padded_name), colours) + "  " +
         styled(Style::kFaint, fit(printable(module), widths.module), colours) + "\n";
}

// What stands below everything else, where it was asked for: the part of each.
std::string group_rows(const Profile& profile, const Widths& widths, const ReportOptions& options) {
  if (options.filter.group_by == GroupBy::kNone) return {};
  std::vector<uint32_t> groups;
  for (const uint32_t child : profile.tree.children_of(0)) groups.push_back(child);
  std::stable_sort(groups.begin(), groups.end(), [&](uint32_t a, uint32_t b) {
    return profile.tree.nodes[a].total.weight > profile.tree.nodes[b].total.weight;
  });
  std::string text;
  for (const uint32_t group : groups) {
    const CallNode& node = profile.tree.nodes[group];
    const double share = profile.share(node.total.weight);
    text += fmt::format(
        "{:>6.2f} % {:>12} {:>{}}  {}\n", 100 * share,
        interval_cell(share_interval(share, profile.total)), format_count(node.total.samples),
        widths.figures() - 24,
        fit(printable(profile.function_of(node).name),
            options.columns < kAnyWidth ? options.columns - widths.figures() : kAnyWidth));
  }
  return text + "\n";
}

}  // namespace

Status write_top_report(ProfileSources sources, const ReportOptions& options) {
  if (asks_for_simulated(options.filter)) return write_simulated_top(sources, options);
  TRY_ASSIGN(const Profile profile, load_profile(sources, options.filter));
  const std::vector<uint32_t> order = functions_by_self(profile);
  const size_t limit = options.limit.value_or(kUsualRows);
  const size_t rows = limit == 0 ? order.size() : std::min(limit, order.size());
  const std::span shown(order.data(), rows);
  const Widths widths = widths_of(profile, shown, options.columns);
  std::string text = profile_heading(profile, options) + group_rows(profile, widths, options);
  std::string titles = fmt::format("{:>8} {:>12} {:>8} {}{:>8}  function", "self", "95 %", "total",
                                   widths.total_interval ? "        95 % " : "", "samples");
  if (widths.module != 0) titles = pad(titles, widths.figures() + widths.padded_name) + "  module";
  text += styled(Style::kHeading, titles, options.colours) + "\n";
  for (const uint32_t i : shown)
    text += row(profile, profile.functions[i], widths, options.colours);
  if (rows < order.size()) {
    text += styled(Style::kFaint,
                   fmt::format("{} more functions; --limit 0 shows all",
                               format_count(order.size() - rows)),
                   options.colours) +
            "\n";
  }
  return print_to(options.out, text);
}

}  // namespace fathom
