// SPDX-License-Identifier: Apache-2.0
#include "report/contribution_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"
#include "import/folded_line.h"
#include "import/folded_reader.h"
#include "report/contribution.h"
#include "report/folded_report.h"
#include "report/label_lines.h"
#include "report/profile.h"
#include "report/text_table.h"
#include "report/unwind_quality.h"

namespace fathom {
namespace {

// A file line by line, as the tool has it: lines that say the same are lines of their own.
Status add_file(const ProfileSource& source, Traces& traces) {
  return each_folded_line(source.path,
                          [&](const FoldedLine& line) { traces.add(line.stack, line.count); });
}

Status add_recording(const ProfileSource& source, const ProfileFilter& filter, Traces& traces) {
  TRY_ASSIGN(const Profile profile, load_profile(ProfileSources(&source, 1), filter));
  for (const FoldedSum& line : folded_sums(profile)) traces.add(line.stack, line.weight);
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
    text += fit(fmt::format("Configuration {} contributed {}/{} = {} % of all unique traces ({})",
                            i, shares[i].mine, shares[i].all, shares[i].percent(), all[i].name),
                options.columns) +
            "\n";
  }
  return text +
         styled(Style::kFaint,
                fit("Only lines that occur exactly once count there, so the hottest do not.",
                    options.columns),
                options.colours) +
         "\n\n";
}

std::string correct_text(const std::vector<Traces>& all, const ReportOptions& options) {
  const Contributions found = contributions(all);
  TextTable table({{"configuration", Side::kLeft, 0, 12},
                   {"distinct"},
                   {"of all"},
                   {"exclusive"},
                   {"of all"},
                   {"common", Side::kRight, 2},
                   {"samples"},
                   {"exclusive"},
                   {"covered", Side::kRight, 1}});
  for (size_t i = 0; i < all.size(); ++i) {
    const Contribution& mine = found.each[i];
    table.add({all[i].name, format_count(mine.distinct),
               percent_text(mine.distinct, found.distinct), format_count(mine.exclusive),
               percent_text(mine.exclusive, found.distinct), format_count(mine.common),
               percent_text(mine.samples, found.samples),
               percent_text(mine.exclusive_samples, found.samples),
               percent_text(mine.covered_samples, found.samples)});
  }
  std::string text = styled(Style::kHeading, "Distinct stacks over those of all", options.colours) +
                     "\n" +
                     fit(fmt::format("{} distinct stacks in all, {} common to all, {} samples",
                                     format_count(found.distinct), format_count(found.common),
                                     format_count(found.samples)),
                         options.columns) +
                     "\n" + table.write(options);
  for (const char* words :
       {"exclusive: that no other configuration has; common: that all have",
        "samples: its part of all samples; the next exclusive: in stacks that no other has",
        "covered: all samples, whoever took them, of stacks that it has"})
    text +=
        styled(Style::kFaint, fit(std::string("  ") + words, options.columns), options.colours) +
        "\n";
  return text;
}

}  // namespace

Status write_contribution_report(ProfileSources sources, const ReportOptions& options) {
  TRY_ASSIGN(const std::vector<Traces> all, read_all(sources, options.filter));
  return print_to(options.out, compatible_text(all, options) + correct_text(all, options));
}

}  // namespace fathom
