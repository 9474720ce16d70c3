// SPDX-License-Identifier: Apache-2.0
#include "report/contribution_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"
#include "base/text_wrap.h"
#include "import/folded_line.h"
#include "import/folded_reader.h"
#include "report/contribution.h"
#include "report/folded_report.h"
#include "report/io_text.h"
#include "report/label_lines.h"
#include "report/profile.h"
#include "report/share_interval.h"
#include "report/text_table.h"
#include "report/unwind_quality.h"

namespace fathom {
namespace {

// A file line by line, as the tool has it: lines that say the same are lines of their own.
Status add_file(const ProfileSource& source, Traces& traces) {
  int64_t number = 0;
  return each_folded_line(source.path, [&](std::string_view text, const auto& line) {
    ++number;
    traces.add_line(text);
    if (line) {
      traces.add_samples(line->stack, {line->count, line->count});
    } else if (!text.empty() && text != "\r" && ++traces.skipped_lines == 1) {
      traces.first_skipped = number;
    }
  });
}

Status add_recording(const ProfileSource& source, const ProfileFilter& filter, Traces& traces) {
  TRY_ASSIGN(const Profile profile, load_profile(ProfileSources(&source, 1), filter));
  for (const FoldedSum& line : folded_sums(profile)) traces.add(line.stack, line.sum);
  return {};
}

// Those of one label together.
Result<std::vector<Traces>> read_all(ProfileSources sources, const ProfileFilter& filter) {
  std::vector<Traces> all;
  for (const ProfileSource& source : sources) {
    Traces* traces = nullptr;
    for (Traces& known : all) {
      if (!source.label.empty() && known.name == printable(source.label)) traces = &known;
    }
    if (traces == nullptr) {
      traces = &all.emplace_back();
      traces->name = printable(source.label.empty() ? source.path : source.label);
    }
    if (source.recording) {
      TRY(add_recording(source, filter, *traces));
    } else {
      TRY(add_file(source, *traces));
    }
  }
  return all;
}

std::string compatible_text(const std::vector<Traces>& all, const ReportOptions& options) {
  std::string text = styled(Style::kHeading, "As docker-traces-xp has it", options.colours) + "\n";
  const std::vector<CompatibleShare> shares = compatible_shares(all);
  for (size_t i = 0; i < shares.size(); ++i) {
    const std::string words =
        fmt::format("Configuration {} contributed {}/{} = {} % of all unique traces", i,
                    shares[i].mine, shares[i].all, shares[i].percent());
    const bool fits = display_width(words) + display_width(all[i].name) + 3 <= options.columns;
    text += (fits ? words + " (" : wrap(words, options.columns, 2) + "\n  (") +
            fit(all[i].name, options.columns - 4, Cut::kMiddle) + ")\n";
  }
  return text +
         styled(Style::kFaint,
                wrap("Only lines that occur exactly once count there, so the hottest do not.",
                     options.columns, 0),
                options.colours) +
         "\n\n";
}

// A share of all samples, and its interval.
struct Share {
  double value = 0;
  Interval interval;
};
Share share_of(const Weight& part, const Weight& all) {
  if (all.weight <= 0) return {};
  const double value = static_cast<double>(part.weight) / static_cast<double>(all.weight);
  return {value, share_interval(value, all)};
}

std::string share_cell(const Weight& part, const Weight& all) {
  return fmt::format("{} ({})", percent_text(part.weight, all.weight),
                     interval_text(share_of(part, all).interval));
}

// Samples that no share is of.
std::string emptied_text(const Contributions& found, const ReportOptions& options) {
  if (found.emptied.samples == 0) return {};
  const std::string words =
      fmt::format("{} of {} samples not counted: cleaning left no text of their stacks",
                  format_count(found.emptied.samples),
                  format_count(found.samples.samples + found.emptied.samples));
  return wrap(words, options.columns, 0) + "\n";
}

std::string skipped_text(const std::vector<Traces>& all, const ReportOptions& options) {
  std::string text;
  for (const Traces& traces : all) {
    if (traces.skipped_lines == 0) continue;
    const std::string words =
        fmt::format("{}: {} not counted as samples, not a folded stack: first line {}", traces.name,
                    plural(traces.skipped_lines, "line", "lines"), traces.first_skipped);
    text += wrap(words, options.columns, 2, LongWord::kCut) + "\n";
  }
  return text;
}

std::string correct_text(const std::vector<Traces>& all, const ReportOptions& options) {
  const Contributions found = contributions(all);
  TextTable table({{"configuration", Side::kLeft, 0, 13},
                   {"distinct"},
                   {"of all", Side::kRight, 2},
                   {"exclusive"},
                   {"of all", Side::kRight, 3},
                   {"common", Side::kRight, 5},
                   {"samples"},
                   {"exclusive", Side::kRight, 1},
                   {"covered", Side::kRight, 4}});
  for (size_t i = 0; i < all.size(); ++i) {
    const StackContribution& mine = found.each[i];
    table.add({all[i].name, format_count(mine.distinct),
               percent_text(mine.distinct, found.distinct), format_count(mine.exclusive),
               percent_text(mine.exclusive, found.distinct), format_count(mine.common),
               share_cell(mine.samples, found.samples),
               share_cell(mine.exclusive_samples, found.samples),
               share_cell(mine.covered_samples, found.samples)});
  }
  std::string text = styled(Style::kHeading, "Distinct stacks over those of all", options.colours) +
                     "\n" +
                     fit(fmt::format("{} distinct stacks in all, {} common to all, {} samples",
                                     format_count(found.distinct), format_count(found.common),
                                     format_count(found.samples.samples)),
                         options.columns) +
                     "\n" + emptied_text(found, options) + table.write(options);
  text += skipped_text(all, options);
  if (const auto names = table.left_out(options.columns); !names.empty())
    text += footnote("a wider terminal also shows: " + join(names, ", "), options);
  for (const char* words :
       {"exclusive: that no other configuration has; common: that all have",
        "samples: its part of the samples counted above; the next exclusive: in stacks that no "
        "other has",
        "covered: the samples of all configurations in stacks that it has",
        "in brackets: the 95 % interval of a share of samples, in percent"})
    text += styled(Style::kFaint, "  " + wrap(words, options.columns, 4), options.colours) + "\n";
  return text;
}

}  // namespace

Status write_contribution_report(ProfileSources sources, const ReportOptions& options) {
  TRY_ASSIGN(const std::vector<Traces> all, read_all(sources, options.filter));
  return print_to(options.out, compatible_text(all, options) + correct_text(all, options));
}

Status write_contribution_json(ProfileSources sources, const ReportOptions& options) {
  TRY_ASSIGN(const std::vector<Traces> all, read_all(sources, options.filter));
  const Contributions found = contributions(all);
  const std::vector<CompatibleShare> compatible = compatible_shares(all);
  const auto sampled = [&](const Weight& part) {
    const Share share = share_of(part, found.samples);
    return fmt::format(R"({{"samples":{},"weight":{},"share":{:.6f},"low":{:.6f},"high":{:.6f}}})",
                       part.samples, part.weight, share.value, share.interval.low,
                       share.interval.high);
  };
  std::string text = fmt::format(
      R"({{"distinct":{},"common":{},"samples":{},"weight":{},"n":{},"emptied_samples":{},"configurations":[)",
      found.distinct, found.common, found.samples.samples, found.samples.weight,
      static_cast<int64_t>(found.samples.effective()), found.emptied.samples);
  for (size_t i = 0; i < all.size(); ++i) {
    const StackContribution& mine = found.each[i];
    text += fmt::format(
        "{}\n{{\"name\":{},\"distinct\":{},\"distinct_share\":{:.6f},\"exclusive\":{},"
        "\"exclusive_share\":{:.6f},\"common\":{},\"own\":{},\"exclusive_samples\":{},"
        "\"covered\":{},\"emptied_samples\":{},\"skipped_lines\":{},\"compatible\":{{\"mine\":{},"
        "\"all\":{},\"percent\":{}}}}}",
        i == 0 ? "" : ",", json_quote(all[i].name), mine.distinct,
        ratio(mine.distinct, found.distinct), mine.exclusive, ratio(mine.exclusive, found.distinct),
        mine.common, sampled(mine.samples), sampled(mine.exclusive_samples),
        sampled(mine.covered_samples), mine.emptied.samples, all[i].skipped_lines,
        compatible[i].mine, compatible[i].all, compatible[i].percent());
  }
  return print_to(options.out, text + "\n]}\n");
}

Status write_contribution_csv(ProfileSources sources, const ReportOptions& options) {
  TRY_ASSIGN(const std::vector<Traces> all, read_all(sources, options.filter));
  const Contributions found = contributions(all);
  std::string text =
      "configuration,distinct,distinct_share,exclusive,exclusive_share,common,samples,share,"
      "low,high,exclusive_samples,exclusive_samples_share,exclusive_samples_low,"
      "exclusive_samples_high,covered_samples,covered_share,covered_low,covered_high,"
      "emptied_samples\n";
  for (size_t i = 0; i < all.size(); ++i) {
    const StackContribution& mine = found.each[i];
    text += fmt::format("{},{},{:.6f},{},{:.6f},{}", csv_quote(all[i].name), mine.distinct,
                        ratio(mine.distinct, found.distinct), mine.exclusive,
                        ratio(mine.exclusive, found.distinct), mine.common);
    for (const Weight& part : {mine.samples, mine.exclusive_samples, mine.covered_samples}) {
      const Share share = share_of(part, found.samples);
      text += fmt::format(",{},{:.6f},{:.6f},{:.6f}", part.samples, share.value, share.interval.low,
                          share.interval.high);
    }
    text += fmt::format(",{}\n", mine.emptied.samples);
  }
  return print_data_to(options.out, text);
}

}  // namespace fathom
