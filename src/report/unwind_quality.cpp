// SPDX-License-Identifier: Apache-2.0
#include "report/unwind_quality.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace fathom {
namespace {

constexpr double kShareToExplain = 0.02;

// The words of the stacks probe; its README says the same at more length.
struct Word {
  std::string_view word, meaning;
};
constexpr Word kWords[] = {
    {"joined", "was cut; callers are those of the thread's last complete stack"},
    {"cut", "deeper than what is copied of a stack; outer callers are missing"},
    {"not in memory", "a part of the stack was not there to be copied"},
    {"32-bit program", "only 64-bit programs have their callers found"},
    {"elsewhere", "callers are on another stack, as with coroutines"},
    {"no table", "code without unwind information, such as JIT; callers missing"},
    {"bad rule", "unwind information that cannot be followed; callers missing"},
    {"bad frame", "not what unwind information expects; callers are missing"},
    {"too deep", "more frames than are followed; outer callers are missing"},
    {"lost at the end", "samples that were lost; the frame [lost] has their weight"},
};

// The most frequent first.
std::vector<std::pair<std::string, int64_t>> others_by_samples(const UnwindQuality& quality) {
  std::vector<std::pair<std::string, int64_t>> others(quality.others.begin(), quality.others.end());
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return others;
}

}  // namespace

void QualityCount::begin_source(const Collected& tables) {
  counts_ = false;
  for (const ProbeStatus& probe : tables.rows.of<ProbeStatus>()) {
    if (tables.text(probe.probe) != kStacksProbe) continue;
    counts_ = true;
    if (!quality_) quality_.emplace();
    quality_->dropped += probe.dropped;
  }
}

void QualityCount::add(const SampleSum& sum) {
  if (!counts_) return;
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
  std::string text = percent_text(quality.complete, quality.samples) + " complete";
  for (const auto& [how, samples] : others_by_samples(quality))
    text += ", " + percent_text(samples, quality.samples) + " " + how;
  if (quality.dropped > 0) text += ", " + format_count(quality.dropped) + " lost";
  return text;
}

std::vector<std::string> quality_words(const UnwindQuality& quality) {
  std::vector<std::string> lines;
  for (const auto& other : others_by_samples(quality)) {
    const std::string& how = other.first;
    const int64_t samples = other.second;
    const double share = static_cast<double>(samples) / static_cast<double>(quality.samples);
    if (share < kShareToExplain) break;
    const auto known = std::find_if(std::begin(kWords), std::end(kWords),
                                    [&](const Word& word) { return word.word == how; });
    if (known != std::end(kWords)) lines.push_back(fmt::format("{}: {}", how, known->meaning));
  }
  return lines;
}

}  // namespace fathom
