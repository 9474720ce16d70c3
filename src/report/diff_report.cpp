// SPDX-License-Identifier: Apache-2.0
#include "report/diff_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"
#include "base/text_wrap.h"
#include "report/flame_page.h"
#include "report/io_text.h"
#include "report/label_lines.h"
#include "report/profile_diff.h"
#include "report/profile_text.h"
#include "report/text_table.h"

namespace fathom {
namespace {

constexpr size_t kUsualRows = 30;

std::string points(double delta) {
  return fmt::format("{}{:.2f}", delta < 0 ? "−" : "+", 100 * std::abs(delta));
}

std::string change_text(const Change& change) {
  return fmt::format("{} ({})", points(change.delta), signed_interval_text(change.interval));
}

std::string_view verdict(const ProfileDiff& diff, uint32_t function) {
  const Change self = diff.self_of(function), total = diff.total_of(function);
  if (!self.seen && !total.seen) return "no difference seen";
  if (total.before == 0) return "appeared";
  if (total.after == 0) return "vanished";
  const double delta = self.seen ? self.delta : total.delta;
  if (!self.seen) return delta > 0 ? "more below it" : "less below it";
  return delta > 0 ? "more" : "less";
}

// A terminal needs the columns for names.
std::string_view verdict_in(const ReportOptions& options, const ProfileDiff& diff,
                            uint32_t function) {
  const bool seen = diff.self_of(function).seen || diff.total_of(function).seen;
  return seen || options.columns == kAnyWidth ? verdict(diff, function) : "none seen";
}

std::string heading(const ProfileDiff& diff, const ReportOptions& options) {
  const auto line = [&](Style style, std::string_view text) {
    return styled(style, fit(text, options.columns), options.colours) + "\n";
  };
  std::string text = line(Style::kHeading, diff.names[0] + " → " + diff.names[1]);
  text += wrap(join(diff_facts(diff), kDot), options.columns, 2, LongWord::kCut) + "\n";
  for (const std::string& note : diff_notes(diff))
    text += styled(Style::kFaint, wrap(note, options.columns, 2, LongWord::kCut), options.colours) +
            "\n";
  return text + "\n";
}

// Shares of their sides, or what they have.
std::string sides_text(const ProfileDiff& diff, const Change& change, const Weight& before,
                       const Weight& after) {
  if (diff.normalised)
    return fmt::format("{:.2f} → {:.2f} %", 100 * change.before, 100 * change.after);
  return weight_text(diff.profile, before.weight) + " → " + weight_text(diff.profile, after.weight);
}

}  // namespace

Status write_diff_report(ProfileSources sources, const ReportOptions& options) {
  TRY_ASSIGN(const ProfileDiff diff, load_diff(sources, options));
  const std::vector<uint32_t> order = functions_by_change(diff);
  const auto changed = std::count_if(order.begin(), order.end(), [&](uint32_t function) {
    return diff.self_of(function).seen || diff.total_of(function).seen;
  });
  const size_t limit = options.limit.value_or(kUsualRows);
  const size_t rows = limit == 0 ? order.size() : std::min(limit, order.size());
  TextTable table({{"Δ self"},
                   {"self", Side::kRight, 1},
                   {"Δ total", Side::kRight, 2},
                   {"total", Side::kRight, 3},
                   {"what", Side::kLeft},
                   {"function", Side::kLeft, 0, 16},
                   {"module", Side::kLeft, 4, 8}});
  for (size_t i = 0; i < rows; ++i) {
    const Function& function = diff.profile.functions[order[i]];
    const Change self = diff.self_of(order[i]), total = diff.total_of(order[i]);
    const auto sides = [&, function = order[i]](const Change& change, auto weights) {
      return sides_text(diff, change, (diff.sides[0].*weights)[function],
                        (diff.sides[1].*weights)[function]);
    };
    table.add({change_text(self), sides(self, &ClassSums::function_self), change_text(total),
               sides(total, &ClassSums::function_total),
               std::string(verdict_in(options, diff, order[i])), printable(function.name),
               printable(module_name(function.module))});
  }
  std::string text = heading(diff, options);
  text += changed == 0 ? "No function differs more than chance allows\n"
                       : fmt::format("{} of {} functions differ more than chance allows\n",
                                     format_count(changed), format_count(order.size()));
  text += styled(Style::kFaint, "among so many at once; an interval is of one function alone",
                 options.colours) +
          "\n\n";
  text += table.write(options);
  if (const auto names = table.left_out(options.columns); !names.empty())
    text += footnote("a wider terminal also shows: " + join(names, ", "), options);
  if (rows < order.size()) {
    text += styled(Style::kFaint,
                   fmt::format("{} more functions; --limit 0 shows all",
                               format_count(order.size() - rows)),
                   options.colours) +
            "\n";
  }
  return print_to(options.out, text);
}

Status write_diff_page(ProfileSources sources, const ReportOptions& options) {
  ReportOptions with_times = options;
  with_times.pages = true;
  TRY_ASSIGN(const ProfileDiff diff, load_diff(sources, with_times));
  const FlamePage page = {.mode = FlamePage::Mode::kDiff,
                          .title = diff.names[0] + " → " + diff.names[1],
                          .facts = diff_facts(diff),
                          .notes = diff_notes(diff),
                          .sets = diff.names,
                          .normalised = diff.normalised,
                          .noise = diff.noise};
  return print_to(options.out, write_flame_page(diff.profile, page));
}

Status write_diff_json(ProfileSources sources, const ReportOptions& options) {
  TRY_ASSIGN(const ProfileDiff diff, load_diff(sources, options));
  const auto side = [&](size_t which) {
    const Weight& all = diff.sides[which].all;
    return fmt::format(R"({{"name":{},"samples":{},"weight":{},"n":{}}})",
                       json_quote(diff.names[which]), all.samples, all.weight,
                       static_cast<int64_t>(all.effective()));
  };
  const auto change = [](const Change& of) {
    return fmt::format(
        R"({{"before":{:.6f},"after":{:.6f},"delta":{:.6f},"low":{:.6f},"high":{:.6f},"seen":{}}})",
        of.before, of.after, of.delta, of.interval.low, of.interval.high, of.seen);
  };
  std::string text = fmt::format(
      "{{\"before\":{},\"after\":{},\"event\":{},\"normalised\":{},\"noise\":{:.4f},"
      "\"overlap\":{},\"functions\":[",
      side(0), side(1), json_quote(diff.profile.event), diff.normalised, diff.noise,
      diff.overlap.empty() ? "null" : json_quote(diff.overlap));
  const std::vector<uint32_t> order = functions_by_change(diff);
  const size_t limit = options.limit.value_or(0);
  const size_t rows = limit == 0 ? order.size() : std::min(limit, order.size());
  for (size_t i = 0; i < rows; ++i) {
    const Function& function = diff.profile.functions[order[i]];
    text +=
        fmt::format("{}\n{{\"function\":{},\"module\":{},\"verdict\":{},\"self\":{},\"total\":{}}}",
                    i == 0 ? "" : ",", json_quote(function.name), json_quote(function.module),
                    json_quote(verdict(diff, order[i])), change(diff.self_of(order[i])),
                    change(diff.total_of(order[i])));
  }
  return print_to(options.out, text + "\n]}\n");
}

}  // namespace fathom
