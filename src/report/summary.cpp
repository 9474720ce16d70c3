// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <algorithm>

#include "report/event_cut.h"
#include "report/profile.h"
#include "report/run_facts.h"

namespace fathom {
namespace {

// Follows each gauge through the batches.
class GaugeRanges {
 public:
  explicit GaugeRanges(std::map<std::string, GaugeRange>& ranges) : ranges_(ranges) {}

  void add(const Batch& batch) {
    std::map<std::pair<StringId, StringId>, GaugeRange*> known;  // ids hold within the batch
    for (const Gauge& gauge : batch.rows.of<Gauge>()) {
      GaugeRange*& range = known[{gauge.scope, gauge.name}];
      if (range == nullptr) range = &find(batch.dictionary, gauge);
      range->largest = std::max(range->largest, gauge.value);
      if (gauge.time_ns < range->first_ns) {  // tables keep no order
        range->first = gauge.value;
        range->first_ns = gauge.time_ns;
      }
      if (gauge.time_ns >= range->last_ns) {
        range->last = gauge.value;
        range->last_ns = gauge.time_ns;
      }
    }
  }

 private:
  GaugeRange& find(const Dictionary& names, const Gauge& gauge) {
    const std::string key =
        std::string(names.text(gauge.scope)) + " " + std::string(names.text(gauge.name));
    const auto [entry, added] = ranges_.try_emplace(key);
    if (added) {
      entry->second = {gauge.value,   gauge.value,   gauge.value,
                       gauge.time_ns, gauge.time_ns, std::string(names.text(gauge.unit))};
    }
    return entry->second;
  }

  std::map<std::string, GaugeRange>& ranges_;
};

void add_programs(Summary& summary) {
  std::map<std::string, ProgramShare> by_name;
  int64_t total_ns = 0;
  for (const Process& process : summary.tables->rows.of<Process>()) {
    std::string name(summary.text(process.name));
    if (name.empty()) name = "process " + std::to_string(process.pid);  // its name was lost
    ProgramShare& share = by_name[name];
    ++share.processes;
    if (process.cpu_ns) share.cpu_ns = share.cpu_ns.value_or(0) + *process.cpu_ns;
    share.peak_rss_bytes = std::max(share.peak_rss_bytes, process.peak_rss_bytes);
    total_ns += process.cpu_ns.value_or(0);
  }
  for (auto& [name, share] : by_name) {
    share.name = name;
    share.cpu_share =
        total_ns > 0 ? static_cast<double>(share.cpu_ns.value_or(0)) / static_cast<double>(total_ns)
                     : 0;
    summary.programs.push_back(share);
    if (share.peak_rss_bytes &&
        (!summary.largest || share.peak_rss_bytes > summary.largest->peak_rss_bytes)) {
      summary.largest = share;
    }
  }
  std::stable_sort(
      summary.programs.begin(), summary.programs.end(),
      [](const ProgramShare& a, const ProgramShare& b) { return a.cpu_ns > b.cpu_ns; });
}

// A recorder that was killed wrote no totals: the last reading replaces them. Of a part of the
// time, the increase between the first and the last reading. Returns the time up to or between
// these.
Maybe fill_totals_from_gauges(Summary& summary, bool added) {
  Run& run = summary.tables->rows.of<Run>().front();
  const auto fill = [&](Maybe& total, const char* name) -> Maybe {
    if (total) return {};
    for (const std::string scope : {"cgroup ", "tree "}) {
      const GaugeRange* gauge = summary.gauge(scope + name);
      const bool sums = added && std::string_view(name).ends_with("_total");
      if (gauge == nullptr) continue;
      // One look, which is no difference, or was too early to see anything.
      if (gauge->first_ns == gauge->last_ns && (sums || gauge->last == 0)) continue;
      total = static_cast<int64_t>(gauge->last - (sums ? gauge->first : 0));
      return gauge->last_ns - (sums ? gauge->first_ns : run.start_ns);
    }
    return {};
  };
  const Maybe cpu_elapsed_ns = fill(run.user_ns, "cpu_user_total");
  fill(run.system_ns, "cpu_system_total");
  fill(run.minor_faults, "minor_faults_total");
  fill(run.major_faults, "major_faults_total");
  fill(run.read_chars, "read_chars_total");
  fill(run.written_chars, "written_chars_total");
  fill(run.disk_read_bytes, "disk_read_total");
  fill(run.disk_written_bytes, "disk_written_total");
  fill(run.cgroup_peak_bytes, "memory_peak");
  return cpu_elapsed_ns;
}

// Nothing where no stacks were sampled.
Status add_stacks(const Recording& recording, Summary& summary) {
  constexpr size_t kMostFunctions = 20;
  const auto profile = load_profile(recording, {});
  if (!profile.ok()) {
    if (profile.error().code == Code::kNotFound) {
      if (!summary.is_part && recording.damage().empty())
        summary.coverage = sample_coverage(*summary.tables, SampleSums());
      return {};
    }
    if (!recording.damaged_tables().empty()) return {};  // which is said
    return profile.error();
  }
  const Profile& found = profile.value();
  StackSummary& stacks = summary.stacks.emplace();
  stacks.event = found.event;
  stacks.samples = found.total.samples;
  stacks.effective_samples = static_cast<int64_t>(found.total.effective());
  stacks.rates_hz = found.rates_hz;
  stacks.obtained = found.obtained;
  stacks.quality = found.quality;
  stacks.own_share = found.share(own_weight(found).weight);
  summary.coverage = found.coverage;
  for (const uint32_t i : functions_by_self(found)) {
    const Function& function = found.functions[i];
    if (stacks.functions.size() == kMostFunctions || function.self.weight == 0) break;
    const double self = found.share(function.self.weight);
    const double total = found.share(function.total.weight);
    stacks.functions.push_back({.name = std::string(function.name),
                                .module = std::string(function.module),
                                .self_share = self,
                                .total_share = total,
                                .self_interval = share_interval(self, found.total),
                                .total_interval = share_interval(total, found.total),
                                .samples = function.self.samples});
  }
  return {};
}

// The last moment anything is known of: a torn recording has no end of its own.
Result<int64_t> last_time_ns(const Recording& recording, const Summary& summary) {
  const Run& run = summary.run();
  if (run.end_ns) return *run.end_ns;
  if (imported(summary)) return run.start_ns;  // of a file without times
  int64_t last_ns = run.start_ns;
  TRY(recording.read(tables_of<Sample, Span>(), [&](const Batch& batch) -> Status {
    for (const Sample& sample : batch.rows.of<Sample>())
      last_ns = std::max(last_ns, sample.time_ns);
    for (const Span& span : batch.rows.of<Span>()) last_ns = std::max(last_ns, span.start_ns);
    return {};
  }));
  for (const auto& [name, range] : summary.gauges) last_ns = std::max(last_ns, range.last_ns);
  for (const Process& process : summary.tables->rows.of<Process>()) {
    last_ns = std::max(last_ns, process.end_ns.value_or(process.start_ns));
  }
  return last_ns;
}

}  // namespace

const GaugeRange* Summary::gauge(const std::string& scope_and_name) const {
  const auto found = gauges.find(scope_and_name);
  return found == gauges.end() ? nullptr : &found->second;
}

Result<Summary> summarize(const Recording& recording) {
  Summary summary;
  TRY_ASSIGN(summary.tables,
             collect_as_written(recording, tables_of<Run, ProbeStatus, Process, EventCount>()));
  if (summary.tables->rows.of<Run>().empty()) {
    return Error{Code::kCorrupt,
                 recording.path() + " does not say which run it is: its first frame is lost",
                 "what is left can be read with: fathom query " + recording.path() + " --list"};
  }
  summary.is_part = recording.cut().has_value();
  TRY(cut_event_counts(recording, *summary.tables));
  GaugeRanges ranges(summary.gauges);
  TRY(recording.read(tables_of<Gauge>(), [&](const Batch& batch) -> Status {
    ranges.add(batch);
    return {};
  }));
  TRY(add_stacks(recording, summary));
  TRY_ASSIGN(const int64_t last_ns, last_time_ns(recording, summary));
  add_damage(recording, *summary.tables);  // all that was met while reading
  summary.damage = summary.text(summary.run().damage);
  add_programs(summary);
  summary.duration_ns = last_ns - summary.run().start_ns;
  summary.cpu_elapsed_ns = summary.duration_ns;
  if (summary.is_part || !summary.run().end_ns) {
    const Maybe elapsed_ns = fill_totals_from_gauges(summary, summary.is_part);
    summary.cpu_elapsed_ns = elapsed_ns.value_or(summary.duration_ns);
  }
  const Run& run = summary.run();
  if (run.user_ns && run.system_ns) summary.cpu_ns = *run.user_ns + *run.system_ns;
  return summary;
}

}  // namespace fathom
