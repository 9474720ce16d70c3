// SPDX-License-Identifier: Apache-2.0
#include "report/top_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"
#include "report/profile_text.h"

namespace fathom {
namespace {

constexpr size_t kUsualRows = 30;
constexpr size_t kFigureColumns = 37;  // before the function's name
constexpr size_t kModuleColumns = 16;

std::string row(const Profile& profile, const Function& function, const ReportOptions& options) {
  const double self = profile.share(function.self.weight);
  const std::string figures =
      fmt::format("{:>6.2f} % {:>7} {:>6.2f} % {:>9}  ", 100 * self,
                  fmt::format("± {:.2f}", 100 * share_half_width(self, profile.total.samples)),
                  100 * profile.share(function.total.weight), format_count(function.self.samples));
  std::string module(module_name(function.module));
  if (module.empty() || function.kind == FrameKind::kInlined) module = kind_text(function);
  const size_t room = options.columns - kFigureColumns - kModuleColumns - 2;
  const std::string name = fit_name(printable(function.name), room);
  if (module.empty()) return figures + styled(Style::kName, name, options.colours) + "\n";
  return figures + styled(Style::kName, pad(name, room), options.colours) + "  " +
         styled(Style::kFaint, fit(printable(module), kModuleColumns), options.colours) + "\n";
}

}  // namespace

Status write_top_report(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const Profile profile, load_profile(recording, options.filter));
  const std::vector<uint32_t> order = functions_by_self(profile);
  const size_t limit = options.limit.value_or(kUsualRows);
  const size_t rows = limit == 0 ? order.size() : std::min(limit, order.size());
  const size_t room = options.columns - kFigureColumns - kModuleColumns - 2;
  std::string text = profile_heading(profile, options);
  text += styled(Style::kHeading,
                 fmt::format("{:>8} {:>7} {:>8} {:>9}  {:<{}}  {}", "self", "95 %", "total",
                             "samples", "function", room, "module"),
                 options.colours) +
          "\n";
  for (size_t i = 0; i < rows; ++i) text += row(profile, profile.functions[order[i]], options);
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
