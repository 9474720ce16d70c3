// SPDX-License-Identifier: Apache-2.0
#include "report/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "report/call_tree_builder.h"
#include "report/sample_filter.h"

namespace fathom {
namespace {

constexpr std::string_view kEventOfCounts = "samples";  // a weight is so many samples

WeightUnit unit_of(std::string_view event, const Weight& total) {
  if (event == kEventOfCounts || total.weight == total.samples) return WeightUnit::kSamples;
  const bool time = event.find("clock") != std::string_view::npos || event == "off-cpu";
  return time ? WeightUnit::kNanoseconds : WeightUnit::kEvents;
}

void describe_run(const Collected& tables, Profile& profile) {
  const std::vector<Run>& runs = tables.rows.of<Run>();
  if (runs.empty()) return;
  const Run& run = runs.front();
  const bool imported = tables.text(run.launcher).starts_with("import");
  profile.command = printable(tables.text(imported ? run.label : run.command));
  if (run.end_ns && !imported) profile.duration_ns = *run.end_ns - run.start_ns;
}

void add_rate(Profile& profile, uint32_t rate_hz) {
  if (rate_hz == 0) return;
  const auto at = std::lower_bound(profile.rates_hz.begin(), profile.rates_hz.end(), rate_hz);
  if (at == profile.rates_hz.end() || *at != rate_hz) profile.rates_hz.insert(at, rate_hz);
}

// The sums that pass become the tree.
Status add_samples(const Collected& tables, const SampleFilter& passes, Profile& profile) {
  const SampleSums& sums = *profile.owner;
  QualityCount quality(tables, sums);
  CallTreeBuilder builder(tables, sums, profile);
  for (const SampleSum& sum : sums.sums()) {
    if (!passes(sum)) continue;
    quality.add(sum);
    add_rate(profile, sum.rate_hz);
    Weight weight{sum.weight, sum.samples};
    if (profile.event == kEventOfCounts) weight.samples = weight.weight;
    profile.total += weight;
    builder.add(sum, weight);
  }
  if (profile.total.samples == 0) return passes.nothing_passed();
  builder.finish();
  profile.quality = quality.result();
  return {};
}

}  // namespace

Result<Profile> load_profile(const Recording& recording, const ProfileFilter& filter) {
  TRY_ASSIGN(const auto tables, collect(recording, tables_of<Run, ProbeStatus, Process, Thread>()));
  Profile profile;
  profile.owner = std::make_unique<SampleSums>();
  TRY(profile.owner->add(recording, sample_range(*tables, filter)));
  if (profile.owner->sums().empty() && (filter.from_ns || filter.to_ns)) {
    return Error{Code::kInvalid, recording.path() + " holds no stack samples of that time",
                 "leave out --from or --to"};
  }
  if (profile.owner->sums().empty()) {
    return Error{Code::kNotFound, recording.path() + " holds no stack samples",
                 "record them with: fathom run --probe stacks -- COMMAND"};
  }
  describe_run(*tables, profile);
  profile.damage = recording.damage();
  const std::vector<Frame>& frames = profile.owner->names().frames;
  profile.lacks_lines =
      filter.lines && std::all_of(frames.begin(), frames.end(),
                                  [](const Frame& f) { return f.file == StringId::kNone; });
  TRY_ASSIGN(const SampleFilter passes, SampleFilter::make(filter, *tables, *profile.owner));
  profile.event = passes.event();
  profile.other_events = passes.other_events();
  TRY(add_samples(*tables, passes, profile));
  profile.unit = unit_of(profile.event, profile.total);
  return profile;
}

std::vector<uint32_t> functions_by_self(const Profile& profile) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < profile.functions.size(); ++i) {
    const Function& function = profile.functions[i];
    if (!function.is_process && function.total.samples > 0) order.push_back(i);
  }
  const auto key = [&](uint32_t i) {
    const Function& function = profile.functions[i];
    return std::tuple(-function.self.weight, -function.total.weight, function.name, function.module,
                      function.kind);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  return order;
}

double share_half_width(double share, int64_t samples) {
  constexpr double kZ = 1.959964;
  if (samples <= 0) return 1;
  const auto n = static_cast<double>(samples);
  return kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / (1 + kZ * kZ / n);
}

}  // namespace fathom
