// SPDX-License-Identifier: Apache-2.0
#include "report/profile_overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "import/folded_reader.h"
#include "report/label_lines.h"

namespace fathom {
namespace {

constexpr double kChance = 1e-6;         // that sides which share nothing look as if they did
constexpr int64_t kMaxExactCount = 200;  // more samples of a stack add nothing to the evidence

// What a source is known by: the id of its run, or where its file is.
Result<std::string> identity_of(const ProfileSource& source) {
  if (source.recording) {
    TRY_ASSIGN(const auto tables, collect_as_written(*source.recording, tables_of<Run>()));
    const std::vector<Run>& runs = tables->rows.of<Run>();
    if (!runs.empty() && runs.front().id != StringId::kNone)
      return "run " + std::string(tables->text(runs.front().id));
  }
  std::error_code failed;
  const auto path = std::filesystem::canonical(source.path, failed);
  return "file " + (failed ? source.path : path.string());
}

using Sums = std::vector<ClassSums>;

// The side in which each stack of the other is at least as often, and more in all.
std::optional<uint32_t> containing_side(const Sums& sides) {
  const uint32_t larger = sides[0].all.samples > sides[1].all.samples ? 0 : 1;
  const ClassSums &all = sides[larger], &part = sides[1 - larger];
  if (all.all.samples == part.all.samples) return std::nullopt;
  for (size_t i = 0; i < all.node_self.size(); ++i) {
    if (part.node_self[i].samples > all.node_self[i].samples ||
        part.node_self[i].weight > all.node_self[i].weight)
      return std::nullopt;
  }
  return larger;
}

// How likely it is that at most half of `count` draws have the probability `part`.
double at_most_half(int64_t count, double part) {
  const auto n = static_cast<double>(count);
  double sum = 0;
  for (int64_t k = 0; k <= count / 2; ++k) {
    const auto of = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(of + 1) - std::lgamma(n - of + 1) +
                    of * std::log(part) + (n - of) * std::log1p(-part));
  }
  return std::min(1.0, sum);
}

// Two runs of one program, which share no sample, seldom have every stack of the shorter one at
// least as often in the longer one: not if there are many stacks of few samples.
bool is_beyond_chance(const Sums& sides, uint32_t larger) {
  const ClassSums &all = sides[larger], &part = sides[1 - larger];
  const auto samples = static_cast<double>(part.all.samples);
  const double share = samples / (samples + static_cast<double>(all.all.samples));
  std::map<int64_t, double> known;
  double log_chance = 0;
  for (size_t i = 0; i < all.node_self.size(); ++i) {
    const int64_t count = all.node_self[i].samples + part.node_self[i].samples;
    if (part.node_self[i].samples == 0 || count > kMaxExactCount) continue;
    const auto [entry, added] = known.try_emplace(count, 0);
    if (added) entry->second = std::log(at_most_half(count, share));
    log_chance += entry->second;
  }
  return log_chance < std::log(kChance);
}

// Whether the files of the larger side have each line of the other's, as `cat` would make them.
bool has_all_lines(ProfileSources sources, uint32_t larger) {
  std::unordered_map<std::string, int64_t> lines;
  for (const uint32_t side : {larger, 1 - larger}) {
    for (const ProfileSource& source : sources) {
      if (source.set != side) continue;
      if (source.recording || !std::filesystem::is_regular_file(source.path)) return false;
      bool has_all = true;
      const Status read =
          each_folded_line(source.path, [&](std::string_view line, const auto& parsed) {
            if (!parsed) return;
            int64_t& left = lines[std::string(line)];
            left += side == larger ? 1 : -1;
            has_all = has_all && left >= 0;
          });
      if (!read.ok() || !has_all) return false;
    }
  }
  return true;
}

void subtract(Weight& from, const Weight& part) {
  from.weight -= part.weight;
  from.samples -= part.samples;
  from.squares = std::max(0.0, from.squares - part.squares);
}

void subtract(std::vector<Weight>& from, const std::vector<Weight>& part) {
  for (size_t i = 0; i < from.size(); ++i) subtract(from[i], part[i]);
}

// From the samples of the larger side, stack by stack: which of its threads or times they are of is
// not known.
void subtract_parts(Profile& profile, const ClassSums& part, uint32_t larger) {
  std::vector<Weight> left = part.node_self;
  for (NodeSamples& samples : profile.parts) {
    const SampleGroup& group = profile.groups[samples.group];
    if (group.event != profile.event || profile.runs[group.source].set != larger) continue;
    Weight& wanted = left[samples.node];
    if (wanted.samples <= 0) continue;
    const Weight taken = {std::min(wanted.weight, samples.self.weight),
                          std::min(wanted.samples, samples.self.samples),
                          std::min(wanted.squares, samples.self.squares)};
    subtract(samples.self, taken);
    subtract(wanted, taken);
  }
  std::erase_if(profile.parts,
                [](const NodeSamples& samples) { return samples.self.samples <= 0; });
}

// Both sides together have what is left.
void subtract_all(Profile& profile, Sums& sides, uint32_t larger) {
  const ClassSums& part = sides[1 - larger];
  subtract_parts(profile, part, larger);
  ClassSums& of = sides[larger];
  subtract(of.node_self, part.node_self);
  subtract(of.node_total, part.node_total);
  subtract(of.function_self, part.function_self);
  subtract(of.function_total, part.function_total);
  subtract(of.all, part.all);
  subtract(profile.total, part.all);
  for (size_t i = 0; i < profile.tree.nodes.size(); ++i) {
    subtract(profile.tree.nodes[i].self, part.node_self[i]);
    subtract(profile.tree.nodes[i].total, part.node_total[i]);
  }
  for (size_t i = 0; i < profile.functions.size(); ++i) {
    subtract(profile.functions[i].self, part.function_self[i]);
    subtract(profile.functions[i].total, part.function_total[i]);
  }
}

}  // namespace

Result<Overlap> separate_runs(std::vector<ProfileSource>& sources) {
  std::vector<std::string> identities;
  std::set<std::string> of_side[2];
  for (const ProfileSource& source : sources) {
    TRY_ASSIGN(std::string identity, identity_of(source));
    of_side[source.set].insert(identity);
    identities.push_back(std::move(identity));
  }
  std::vector<std::string> shared;
  std::set_intersection(of_side[0].begin(), of_side[0].end(), of_side[1].begin(), of_side[1].end(),
                        std::back_inserter(shared));
  if (shared.empty()) return Overlap{};
  if (shared.size() == of_side[0].size() && shared.size() == of_side[1].size())
    return Overlap{.note = "Both sides are the same run"};
  if (shared.size() != of_side[0].size() && shared.size() != of_side[1].size()) {
    return Overlap{
        .note = fmt::format("{} on both sides: differences are larger than shown, and "
                            "their intervals do not hold",
                            plural(static_cast<int64_t>(shared.size()), "run is", "runs are"))};
  }
  const uint32_t larger = of_side[0].size() > of_side[1].size() ? 0 : 1;
  std::vector<ProfileSource> kept;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].set != larger ||
        !std::binary_search(shared.begin(), shared.end(), identities[i]))
      kept.push_back(std::move(sources[i]));
  }
  sources = std::move(kept);
  return Overlap{larger,
                 fmt::format("The side {0} contains all of the side {1}, which is "
                             "subtracted from it: {1} is compared with the rest",
                             larger == 0 ? "before" : "after", larger == 0 ? "after" : "before")};
}

Result<Overlap> separate_stacks(ProfileSources sources, ReportOptions::Contained contained,
                                Profile& profile, std::vector<ClassSums>& sides) {
  using Contained = ReportOptions::Contained;
  if (contained == Contained::kNo) return Overlap{};
  const auto larger = containing_side(sides);
  if (!larger) {
    if (contained == Contained::kAuto) return Overlap{};
    return Error{Code::kInvalid, "neither side contains the other: each has a stack more often",
                 "leave out --contained yes"};
  }
  const bool recorded = std::any_of(sources.begin(), sources.end(), [&](const auto& source) {
    return source.set == *larger && source.recording.has_value();
  });
  const char* all = *larger == 0 ? "before" : "after";
  const char* part = *larger == 0 ? "after" : "before";
  const std::string seen =
      fmt::format("Each stack of the side {} is in the side {} at least as often", part, all);
  if (contained == Contained::kAuto) {
    if (recorded) return Overlap{};  // by several runs, which have their own ids
    if (!is_beyond_chance(sides, *larger) && !has_all_lines(sources, *larger)) {
      if (sources.size() > 2) return Overlap{};  // several runs together have more than one
      return Overlap{.note = seen + "; if it contains it, pass --contained yes"};
    }
  }
  subtract_all(profile, sides, *larger);
  return Overlap{larger,
                 seen + ", which contains it: it is subtracted, and compared with the rest" +
                     (contained == Contained::kAuto ? " (--contained no: separate runs)" : "")};
}

}  // namespace fathom
