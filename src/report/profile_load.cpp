// SPDX-License-Identifier: Apache-2.0
// From recordings and folded files to a profile.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/text.h"
#include "import/folded_reader.h"
#include "report/as_folded.h"
#include "report/call_tree_builder.h"
#include "report/profile.h"
#include "report/program_names.h"
#include "report/rate_steps.h"
#include "report/sample_filter.h"
#include "report/simulated_top.h"
#include "report/stacks_status.h"

namespace fathom {
namespace {

WeightUnit unit_of(std::string_view event, const Weight& total) {
  if (event == kFoldedEvent || total.weight == total.samples) return WeightUnit::kSamples;
  const bool time = event.find("clock") != std::string_view::npos || event == "off-cpu";
  return time ? WeightUnit::kNanoseconds : WeightUnit::kEvents;
}

class ProfileLoader {
 public:
  ProfileLoader(ProfileSources sources, const ProfileFilter& filter)
      : sources_(sources), filter_(filter) {
    profile_.owner = std::make_unique<SampleSums>();
  }

  Result<Profile> load() {
    if (asks_for_simulated(filter_))
      return no_simulated_stacks(sources_.front().path, filter_.event);
    for (const ProfileSource& source : sources_) TRY(read_tables(source));
    if (sources_.size() > 1) names_.emplace(tables_, filter_.compared);
    for (size_t source = 0; source < sources_.size(); ++source) TRY(read(source));
    TRY(check_read());
    if (sums().samples_of_other_paths() > 0) {
      add_damage(
          fmt::format("{} samples are of more than {} different call paths and are counted as {}",
                      format_count(sums().samples_of_other_paths()),
                      format_count(SampleSums::kMaxPaths), kOtherPaths));
    }
    describe();
    TRY_ASSIGN(SampleFilter passes, SampleFilter::make(filter_, tables_, sums()));
    profile_.event = passes.event();
    if (passes.joins_folded()) {
      profile_.owner = as_folded(sums(), tables_, passes);
      profile_.joined = "Folded stacks have no event and are taken as " +
                        printable(profile_.event) +
                        ": samples are counted, without weights and modules";
      if (sums().sums().empty()) return passes.nothing_passed();
      TRY_ASSIGN(passes, SampleFilter::make({.event = profile_.event}, tables_, sums()));
    }
    profile_.other_events = passes.other_events();
    if (sources_.size() == 1) profile_.obtained = obtained_rates(*tables_[0], profile_.event);
    if (is_all_of_a_run()) profile_.coverage = sample_coverage(*tables_[0], sums());
    TRY(add_samples(passes));
    profile_.unit = unit_of(profile_.event, profile_.total);
    return std::move(profile_);
  }

 private:
  SampleSums& sums() { return *profile_.owner; }

  Status read_tables(const ProfileSource& source) {
    if (!source.recording) {
      tables_.push_back(std::make_unique<Collected>());
      return {};
    }
    TRY_ASSIGN(auto tables, collect_as_written(*source.recording,
                                               tables_of<Run, ProbeStatus, Process, Thread>()));
    tables_.push_back(std::move(tables));
    return {};
  }

  Status read(size_t number) {
    const ProfileSource& source = sources_[number];
    if (number > 0) sums().next_source();
    if (!source.recording) {
      if (filter_.from_ns || filter_.to_ns) {
        return Error{Code::kInvalid, source.path + " holds folded stacks, which have no times",
                     "leave out --from and --to"};
      }
      TRY_ASSIGN(const ImportCounts counts, read_folded(source.path, sums()));
      if (counts.skipped > 0)
        add_damage(fmt::format("{} lines of {} were not understood, the first is line {}",
                               format_count(counts.skipped), printable(source.path),
                               counts.first_skipped));
      return {};
    }
    SampleRange range = sample_range(*tables_[number], filter_);
    if (names_) {
      range.module_name = [this, number](std::string_view module) {
        return names_->module(number, module);
      };
    }
    TRY(sums().add(*source.recording, range));
    add_damage(damage_of(*source.recording, *tables_[number]));
    return {};
  }

  bool is_all_of_a_run() {
    const bool is_filtered = !filter_.process.empty() || !filter_.thread.empty() ||
                             filter_.from_ns || filter_.to_ns || filter_.rate_hz;
    if (sources_.size() != 1 || !sources_[0].recording || is_filtered) return false;
    return !sources_[0].recording->cut() && profile_.joined.empty() && profile_.damage.empty();
  }

  void add_damage(std::string_view damage) {
    profile_.damage = join_damage(profile_.damage, damage);
  }

  Status check_read() {
    if (!sums().sums().empty()) return {};
    const std::string& path = sources_.front().path;
    if (filter_.from_ns || filter_.to_ns) {
      return Error{Code::kNotFound, path + " holds no stack samples of that time",
                   "leave out --from or --to"};
    }
    for (const ProbeStatus& probe : tables_.front()->rows.of<ProbeStatus>()) {
      if (tables_.front()->text(probe.probe) == "simulate")
        return Error{Code::kNotFound, path + " was simulated and not sampled",
                     fmt::format("what was simulated: fathom report {0} --as top --event "
                                 "instructions:simulated, fathom report {0} --as stat",
                                 path)};
    }
    if (const auto status = stacks_status(*tables_.front())) return no_samples_error(path, *status);
    return Error{Code::kNotFound, path + " holds no stack samples",
                 "record them with: fathom run --probe stacks -- COMMAND"};
  }

  // What the run is called among others.
  [[nodiscard]] std::string label_of(size_t source) const {
    const ProfileSource& from = sources_[source];
    if (!from.label.empty()) return printable(from.label);
    const std::vector<Run>& runs = tables_[source]->rows.of<Run>();
    if (!runs.empty()) {
      const std::string_view label = tables_[source]->text(runs.front().label);
      if (!label.empty()) return printable(label);
    }
    return file_name(source);
  }

  [[nodiscard]] std::string file_name(size_t source) const {
    const std::filesystem::path path(sources_[source].path);
    const bool ours = path.extension() == kFolderSuffix;
    return printable((ours ? path.stem() : path.filename()).string());
  }

  void describe() {
    std::vector<std::string> labels;
    for (size_t i = 0; i < sources_.size(); ++i) {
      profile_.runs.push_back(
          {label_of(i), file_name(i), sources_[i].set, printable(sources_[i].label)});
      if (std::find(labels.begin(), labels.end(), profile_.runs[i].label) == labels.end())
        labels.push_back(profile_.runs[i].label);
    }
    if (sources_.size() == 1) {
      describe_run(*tables_[0]);
    } else {
      profile_.command = fmt::format("{} runs: {}", sources_.size(), join(labels, ", "));
    }
    const std::vector<Frame>& frames = sums().names().frames;
    profile_.lacks_lines =
        filter_.lines && std::all_of(frames.begin(), frames.end(),
                                     [](const Frame& f) { return f.file == StringId::kNone; });
  }

  void describe_run(const Collected& tables) {
    profile_.command = profile_.runs.front().label;
    profile_.from_ns = filter_.from_ns;
    profile_.to_ns = filter_.to_ns;
    const std::vector<Run>& runs = tables.rows.of<Run>();
    if (runs.empty()) return;
    const Run& run = runs.front();
    const bool imported = tables.text(run.launcher).starts_with("import");
    profile_.command = printable(tables.text(imported ? run.label : run.command));
    if (run.end_ns && !imported) profile_.duration_ns = *run.end_ns - run.start_ns;
  }

  void add_rate(uint32_t rate_hz) {
    if (rate_hz == 0) return;
    std::vector<uint32_t>& rates = profile_.rates_hz;
    const auto at = std::lower_bound(rates.begin(), rates.end(), rate_hz);
    if (at == rates.end() || *at != rate_hz) rates.insert(at, rate_hz);
  }

  // Samples of several rates at once stand for their part of the time. Those of one of them alone
  // stand for all of it again.
  double scale_of(size_t source, const SampleFilter& passes) {
    if (!filter_.rate_hz) return 1;
    std::vector<uint32_t> rates;
    for (const SampleSum& sum : sums().sums_of(source)) {
      if (passes.is_main(sum) && std::find(rates.begin(), rates.end(), sum.rate_hz) == rates.end())
        rates.push_back(sum.rate_hz);
    }
    double all = 0;
    for (const uint32_t rate : rates) all += rate;
    return all / static_cast<double>(*filter_.rate_hz);
  }

  // Of one run: runs differ for other reasons, too.
  bool has_several_rates(const SampleFilter& passes) {
    if (sources_.size() != 1 || filter_.rate_hz) return false;
    uint32_t first = 0;
    for (const SampleSum& sum : sums().sums()) {
      if (!passes.is_main(sum) || sum.rate_hz == 0) continue;
      if (first != 0 && sum.rate_hz != first) return true;
      first = sum.rate_hz;
    }
    return false;
  }

  // The sums that pass become the tree.
  Status add_samples(const SampleFilter& passes) {
    compare_rates_ = has_several_rates(passes);
    QualityCount quality(sums());
    CallTreeBuilder builder(sums(), filter_.group_by, profile_);
    std::vector<std::unique_ptr<SampleOwners>> owners;
    for (size_t source = 0; source < tables_.size(); ++source) {
      owners.push_back(std::make_unique<SampleOwners>(*tables_[source]));
      if (names_ && !names_->shared_name().empty())
        owners.back()->rename(names_->first_process(source), names_->shared_name());
      quality.begin_source(*tables_[source]);
      builder.begin_source(*owners.back(), profile_.runs[source].label);
      begin_groups(source, *owners.back());
      const double scale = scale_of(source, passes);
      const int64_t before = profile_.total.samples;
      for (const SampleSum& sum : sums().sums_of(source)) {
        const bool main = passes.is_main(sum);
        if ((!main && !filter_.all_events) || !passes.passes(sum, source)) continue;
        if (main) quality.add(sum);
        add_sum(sum, weight_of(sum, scale), main, builder);
      }
      if (profile_.total.samples == before)
        profile_.left_out += (profile_.left_out.empty() ? "" : ", ") + file_name(source);
    }
    if (profile_.total.samples == 0) return passes.nothing_passed();
    builder.finish();
    profile_.quality = quality.result();
    if (compare_rates_) profile_.in_step = in_step_text(profile_);
    if (!filter_.keep_parts) profile_.parts = {};
    return {};
  }

  Weight weight_of(const SampleSum& sum, double scale) {
    Weight weight{sum.weight, sum.samples, sum.squares};
    if (scale != 1) {
      weight.weight = std::llround(static_cast<double>(weight.weight) * scale);
      weight.squares *= scale * scale;
    }
    if (sums().text(sum.event) == kFoldedEvent) {
      weight.samples = weight.weight;
      weight.squares = static_cast<double>(weight.weight);
    }
    return weight;
  }

  void add_sum(const SampleSum& sum, const Weight& weight, bool main, CallTreeBuilder& builder) {
    const uint32_t node = builder.node_of(sum);
    if (main) {
      add_rate(sum.rate_hz);
      profile_.total += weight;
      profile_.tree.nodes[node].self += weight;
    }
    if (!filter_.keep_parts && !compare_rates_) return;
    profile_.parts.push_back({node, group_of(sum), sum.time_ns - start_ns_, weight});
  }

  void begin_groups(size_t source, const SampleOwners& owners) {
    const std::vector<Run>& runs = tables_[source]->rows.of<Run>();
    start_ns_ = runs.empty() ? 0 : runs.front().start_ns;
    source_ = source;
    owners_ = &owners;
    thread_event_ = rate_ = {};
    first_group_ = profile_.groups.size();
  }

  uint32_t group_of(const SampleSum& sum) {
    const uint32_t key =
        thread_event_
            .number(static_cast<uint32_t>(sum.thread) + 1, static_cast<uint32_t>(sum.event))
            .first;
    const auto [number, added] = rate_.number(key, sum.rate_hz);
    if (added) {
      SampleGroup group{.source = static_cast<uint32_t>(source_), .rate_hz = sum.rate_hz};
      group.event = sums().text(sum.event);
      if (sum.thread != ThreadId::kNone) {
        const ThreadKey& thread = sums().names().threads[index_of(sum.thread)];
        group.pid = thread.pid;
        group.tid = thread.tid;
        group.process = owners_->process(thread.pid, sum.time_ns);
        group.thread = owners_->thread(thread);
      }
      profile_.groups.push_back(std::move(group));
    }
    return static_cast<uint32_t>(first_group_) + number - 1;
  }

  ProfileSources sources_;
  const ProfileFilter& filter_;
  SourceTables tables_;
  std::optional<ProgramNames> names_;  // of several
  Profile profile_;
  bool compare_rates_ = false;
  // Of the source that is being added.
  size_t source_ = 0, first_group_ = 0;
  int64_t start_ns_ = 0;
  const SampleOwners* owners_ = nullptr;
  PairIndex thread_event_, rate_;
};

}  // namespace

Result<Profile> load_profile(ProfileSources sources, const ProfileFilter& filter) {
  return ProfileLoader(sources, filter).load();
}

Result<Profile> load_profile(const Recording& recording, const ProfileFilter& filter) {
  const ProfileSource source = ProfileSource::of(recording);
  return load_profile(ProfileSources(&source, 1), filter);
}

}  // namespace fathom
