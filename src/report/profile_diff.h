// SPDX-License-Identifier: Apache-2.0
// What differs between two sets of runs, and whether it is more than chance: shares of samples have
// a binomial spread, and where a set has several runs, what these differ among themselves is added
// to it. Because many frames are compared, a difference counts only where it would be unlikely to
// be seen in any of them (Bonferroni, 5 %). Does not change once made: any thread.
#pragma once

#include <string>
#include <vector>

#include "report/profile.h"
#include "report/profile_split.h"
#include "report/report.h"
#include "report/share_interval.h"

namespace fathom {

struct Change {
  double before = 0, after = 0;  // shares of their sides
  double delta = 0;              // of shares; of amounts: as a part of the larger side
  Interval interval = {};        // 95 % of delta
  double deviation = 0;          // one standard deviation of it, for the test
  bool seen = false;             // more than chance
};

struct ProfileDiff {
  Profile profile;                 // of both
  std::vector<std::string> names;  // of the two sides
  std::vector<ClassSums> sides;    // before, after
  bool normalised = true;
  size_t runs_before = 0, runs_after = 0;
  bool has_repetitions = false;  // several runs of a side, and of one configuration
  double noise = 1;              // how much more they differ than samples of one run would
  std::string overlap;           // what the sides share, and what was done; empty: nothing
  std::vector<double> function_noise;
  double limit = 0;      // so many deviations are more than chance
  double strongest = 0;  // delta of any frame

  [[nodiscard]] Change node(uint32_t node) const;
  [[nodiscard]] Change self_of(uint32_t function) const;
  [[nodiscard]] Change total_of(uint32_t function) const;
};

// Sources of set 0 are before, others after; where all are of one set, the first is before.
Result<ProfileDiff> load_diff(ProfileSources sources, const ReportOptions& options);

// Functions that either side has and that are no processes: what has changed first, by the change
// of their own share, then the rest by theirs.
std::vector<uint32_t> functions_by_change(const ProfileDiff& diff);

// What the reader must know besides the figures, a line each.
std::vector<std::string> diff_facts(const ProfileDiff& diff);
std::vector<std::string> diff_notes(const ProfileDiff& diff);

// So many standard deviations are exceeded by chance with this probability, one-sided.
double normal_tail(double probability);

}  // namespace fathom
