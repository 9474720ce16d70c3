// SPDX-License-Identifier: Apache-2.0
#include "report/profile_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "report/profile_overlap.h"
#include "report/profile_text.h"

namespace fathom {
namespace {

constexpr double kComparedShare = 0.001;  // less is not told apart from nothing
constexpr double kBothSides = 0.025;      // 5 % in all
constexpr double kFewestExpected = 5;     // samples of a run, to say how much runs differ
constexpr size_t kNameColumns = 40;

double share_of(const Weight& part, const Weight& all) {
  return all.weight > 0 ? static_cast<double>(part.weight) / static_cast<double>(all.weight) : 0;
}

// Of a share seen in n samples, also where none was.
double chance_variance(double share, const Weight& all) {
  const double n = all.effective();
  const double guess = (share * n + 1) / (n + 2);
  return guess * (1 - guess) / (n + 2);
}

Change change_of(const ProfileDiff& diff, const Weight& before, const Weight& after, double noise) {
  const Weight& all_before = diff.sides[0].all;
  const Weight& all_after = diff.sides[1].all;
  Change change{share_of(before, all_before), share_of(after, all_after)};
  if (diff.normalised) {
    change.delta = change.after - change.before;
    change.interval = share_difference(change.before, all_before, change.after, all_after, noise);
    change.deviation = noise * std::sqrt(chance_variance(change.before, all_before) +
                                         chance_variance(change.after, all_after));
  } else {
    const auto most =
        static_cast<double>(std::max({all_before.weight, all_after.weight, int64_t{1}}));
    const auto variance = [](const Weight& part, const Weight& all) {
      const double n = all.effective();
      const double each = n > 0 ? static_cast<double>(all.weight) / n : 0;
      return each * static_cast<double>(part.weight);
    };
    change.delta = static_cast<double>(after.weight - before.weight) / most;
    change.deviation =
        noise * std::sqrt(variance(before, all_before) + variance(after, all_after)) / most;
    const Interval of = amount_difference(before, all_before, after, all_after, noise);
    change.interval = {of.low / most, of.high / most};
  }
  change.seen = std::abs(change.delta) > diff.limit * change.deviation;
  return change;
}

void find_limit(ProfileDiff& diff) {
  size_t compared = 0;
  for (uint32_t i = 1; i < diff.profile.tree.nodes.size(); ++i) {
    const Change change = diff.node(i);
    if (std::max(change.before, change.after) < kComparedShare) continue;
    ++compared;
    diff.strongest = std::max(diff.strongest, std::abs(change.delta));
  }
  diff.limit = normal_tail(kBothSides / static_cast<double>(std::max<size_t>(1, compared)));
}

// How runs of one set spread about their mean, as a part of what chance alone would give.
struct Spread {
  double squares = 0, freedom = 0;

  void add(std::span<const ClassSums> runs, std::span<const uint32_t> members, uint32_t function) {
    Weight sum = {}, all = {};
    for (const uint32_t run : members) {
      sum += runs[run].function_self[function];
      all += runs[run].all;
    }
    const double mean = share_of(sum, all);
    double found = 0;
    for (const uint32_t run : members) {
      const double samples = runs[run].all.effective();
      if (samples * mean < kFewestExpected || mean >= 1) return;
      const double off = share_of(runs[run].function_self[function], runs[run].all) - mean;
      found += samples * off * off / (mean * (1 - mean));
    }
    squares += found;
    freedom += static_cast<double>(members.size() - 1);
  }
  [[nodiscard]] double noise() const {
    return freedom > 0 ? std::sqrt(std::max(1.0, squares / freedom)) : 1;
  }
};

void find_noise(ProfileDiff& diff) {
  const Profile& profile = diff.profile;
  // Repetitions: different configurations differ for other reasons.
  std::map<std::pair<uint32_t, std::string>, std::vector<uint32_t>> members;
  for (uint32_t i = 0; i < profile.runs.size(); ++i) {
    const ProfileRun& run = profile.runs[i];
    members[{run.set, run.configuration}].push_back(i);
    ++(run.set == 0 ? diff.runs_before : diff.runs_after);
  }
  for (const auto& [key, of] : members) diff.has_repetitions |= of.size() > 1;
  diff.function_noise.assign(profile.functions.size(), 1);
  if (!diff.has_repetitions) return;
  std::vector<uint32_t> source_of;
  for (const SampleGroup& group : profile.groups) source_of.push_back(group.source);
  const std::vector<ClassSums> runs = split_profile(profile, source_of, profile.runs.size());
  Spread all;
  for (uint32_t function = 0; function < profile.functions.size(); ++function) {
    Spread own;
    for (const auto& [key, of] : members) {
      if (of.size() < 2) continue;
      own.add(runs, of, function);
      all.add(runs, of, function);
    }
    diff.function_noise[function] = own.noise();
  }
  diff.noise = all.noise();
  for (double& noise : diff.function_noise) noise = std::max(noise, diff.noise);
}

std::string name_of(const Profile& profile, uint32_t set, std::string ProfileRun::*part) {
  std::vector<std::string> names;
  for (const ProfileRun& run : profile.runs) {
    if (run.set == set && std::find(names.begin(), names.end(), run.*part) == names.end())
      names.push_back(run.*part);
  }
  return fit(join(names, ", "), kNameColumns);
}

// By their labels, else by their files.
std::vector<std::string> names_of(const Profile& profile) {
  for (const auto part : {&ProfileRun::label, &ProfileRun::name}) {
    std::vector<std::string> names = {name_of(profile, 0, part), name_of(profile, 1, part)};
    if (names[0] != names[1]) return names;
  }
  return {"before", "after"};
}

}  // namespace

double normal_tail(double probability) {  // Abramowitz and Stegun 26.2.23
  const double t = std::sqrt(-2 * std::log(probability));
  return t - (2.515517 + 0.802853 * t + 0.010328 * t * t) /
                 (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
}

Change ProfileDiff::node(uint32_t node) const {
  return change_of(*this, sides[0].node_total[node], sides[1].node_total[node], noise);
}

Change ProfileDiff::self_of(uint32_t function) const {
  return change_of(*this, sides[0].function_self[function], sides[1].function_self[function],
                   function_noise[function]);
}

Change ProfileDiff::total_of(uint32_t function) const {
  return change_of(*this, sides[0].function_total[function], sides[1].function_total[function],
                   function_noise[function]);
}

Result<ProfileDiff> load_diff(ProfileSources sources, const ReportOptions& options) {
  std::vector<ProfileSource> both(sources.begin(), sources.end());
  const bool told = std::any_of(both.begin(), both.end(), [](const auto& s) { return s.set != 0; });
  for (size_t i = 1; !told && i < both.size(); ++i) both[i].set = 1;
  if (both.size() < 2) {
    return Error{Code::kInvalid, "a difference is of two: " + both.front().path + " and what?",
                 "fathom diff BEFORE AFTER"};
  }
  TRY_ASSIGN(Overlap overlap, separate_runs(both));
  ProfileFilter filter = options.filter;
  filter.compared = true;
  filter.keep_parts = true;
  filter.keep_times = options.pages;
  ProfileDiff diff;
  TRY_ASSIGN(diff.profile, load_profile(both, filter));
  diff.normalised = options.normalised;
  std::vector<uint32_t> side_of;
  for (const SampleGroup& group : diff.profile.groups)
    side_of.push_back(diff.profile.runs[group.source].set);
  diff.sides = split_profile(diff.profile, side_of, 2);
  for (uint32_t set = 0; set < 2; ++set) {
    if (diff.sides[set].all.samples == 0) {
      return Error{Code::kNotFound,
                   fmt::format("the {} of the two has no sample of {}",
                               set == 0 ? "first" : "second", printable(diff.profile.event)),
                   "both must have been sampled by the same event (--event)"};
    }
  }
  diff.names = names_of(diff.profile);
  if (overlap.note.empty()) {
    TRY_ASSIGN(overlap, separate_stacks(both, options.contained, diff.profile, diff.sides));
    if (overlap.larger)
      diff.names[*overlap.larger] += " without " + diff.names[1 - *overlap.larger];
  }
  diff.overlap = overlap.note;
  find_noise(diff);
  find_limit(diff);
  return diff;
}

std::vector<uint32_t> functions_by_change(const ProfileDiff& diff) {
  struct Ranked {
    uint32_t function;
    bool seen;
    double own, whole;
  };
  std::vector<Ranked> rows;
  for (uint32_t i = 0; i < diff.profile.functions.size(); ++i) {
    const Function& function = diff.profile.functions[i];
    if (function.is_process || function.total.samples == 0) continue;
    const Change self = diff.self_of(i), total = diff.total_of(i);
    rows.push_back({i, self.seen || total.seen, self.seen ? std::abs(self.delta) : 0,
                    std::max(std::abs(self.delta), std::abs(total.delta))});
  }
  const auto key = [&](const Ranked& row) {
    const Function& function = diff.profile.functions[row.function];
    return std::tuple(!row.seen, -row.own, -row.whole, function.name, function.module,
                      function.kind);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const Ranked& a, const Ranked& b) { return key(a) < key(b); });
  std::vector<uint32_t> order;
  order.reserve(rows.size());
  for (const Ranked& row : rows) order.push_back(row.function);
  return order;
}

std::vector<std::string> diff_facts(const ProfileDiff& diff) {
  std::vector<std::string> facts;
  const size_t runs[] = {diff.runs_before, diff.runs_after};
  for (size_t side = 0; side < 2; ++side) {
    std::string text = diff.names[side] + ": " + format_count(diff.sides[side].all.samples) +
                       (diff.sides[side].all.samples == 1 ? " sample" : " samples");
    if (diff.profile.unit != WeightUnit::kSamples)
      text += ", " + weight_text(diff.profile, diff.sides[side].all.weight);
    if (runs[side] > 1) text += fmt::format(" in {} runs", runs[side]);
    facts.push_back(text);
  }
  facts.emplace_back(diff.normalised ? "by share of each" : "by amount");
  return facts;
}

std::vector<std::string> diff_notes(const ProfileDiff& diff) {
  std::vector<std::string> notes;
  if (!diff.overlap.empty()) notes.push_back(diff.overlap);
  if (diff.runs_before < 2 && diff.runs_after < 2) {
    notes.emplace_back(
        "One run a side: what is more than the chance of sampling may still be how runs differ");
  } else if (!diff.has_repetitions) {
    notes.emplace_back(
        "Runs of a side are of different configurations, not repetitions: what is more than the "
        "chance of sampling may still be how runs differ");
  } else {
    notes.push_back(
        fmt::format("Runs of a side differ {:.1f} times as much as samples of one run would: the "
                    "square root of chi-square per degree of freedom, of functions with {} "
                    "expected samples or more",
                    diff.noise, kFewestExpected));
  }
  if (!diff.normalised)
    notes.emplace_back(
        "Δ in percent of the larger side; what differs is what does so among all of them");
  for (std::string& note : profile_notes(diff.profile)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace fathom
