// SPDX-License-Identifier: Apache-2.0
#include "report/unwind_quality.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace fathom {

QualityCount::QualityCount(const Collected& tables, const SampleSums& sums) : sums_(sums) {
  for (const ProbeStatus& probe : tables.rows.of<ProbeStatus>()) {
    if (tables.text(probe.probe) != kStacksProbe) continue;
    quality_.emplace();
    quality_->dropped = probe.dropped;
  }
}

void QualityCount::add(const SampleSum& sum) {
  if (!quality_) return;
  quality_->samples += sum.samples;
  if (sum.unwind == StringId::kNone) {
    quality_->complete += sum.samples;
  } else {
    quality_->others[printable(sums_.text(sum.unwind))] += sum.samples;
  }
}

std::optional<UnwindQuality> QualityCount::result() const {
  return quality_ && quality_->samples > 0 ? quality_ : std::nullopt;
}

std::string percent_text(int64_t part, int64_t whole) {
  if (whole <= 0 || part <= 0) return "0.0 %";
  if (part >= whole) return "100 %";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.1) return "<0.1 %";
  return fmt::format("{:.1f} %", std::min(percent, 99.9));
}

std::string quality_text(const UnwindQuality& quality) {
  std::vector<std::pair<std::string, int64_t>> others(quality.others.begin(), quality.others.end());
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = percent_text(quality.complete, quality.samples) + " complete";
  for (const auto& [how, samples] : others)
    text += ", " + percent_text(samples, quality.samples) + " " + how;
  if (quality.dropped > 0) text += ", " + format_count(quality.dropped) + " lost";
  return text;
}

}  // namespace fathom
