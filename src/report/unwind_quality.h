// SPDX-License-Identifier: Apache-2.0
// How far the stacks of samples can be trusted: how many reached the root of their thread, were
// joined to an earlier one, or ended early and why. Worked out here for every report. Only known
// for recordings of the stacks probe. Pure functions: any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/sample_sums.h"

namespace fathom {

constexpr std::string_view kStacksProbe = "stacks";

struct UnwindQuality {
  int64_t samples = 0;
  int64_t complete = 0;                   // reached the root by themselves
  std::map<std::string, int64_t> others;  // by what the probe called it
  int64_t dropped = 0;                    // samples that were lost
};

// Of the samples that pass; nothing if no stacks probe ran.
class QualityCount {
 public:
  explicit QualityCount(const SampleSums& sums) : sums_(sums) {}
  // Whose the next sums are: their probes.
  void begin_source(const Collected& tables);
  void add(const SampleSum& sum);
  [[nodiscard]] std::optional<UnwindQuality> result() const;

 private:
  const SampleSums& sums_;
  std::optional<UnwindQuality> quality_;
  bool counts_ = false;  // this source has it
};

// "99.6 % complete, 0.2 % joined, 0.2 % cut"; the most frequent first.
std::string quality_text(const UnwindQuality& quality);

// What its words mean, a line each: only of those that more than a few percent of the samples have.
std::vector<std::string> quality_words(const UnwindQuality& quality);

// "12.3 %"; what is not all is never "100 %", what is not nothing never "0.0 %".
std::string percent_text(int64_t part, int64_t whole);

}  // namespace fathom
