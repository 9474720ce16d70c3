// SPDX-License-Identifier: Apache-2.0
#include "report/io_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "report/thread_filter.h"

namespace fathom {
namespace {

constexpr std::string_view kProbe = "io";
constexpr std::string_view kFilters = "; filters: ";  // in the settings of the probe

void add_figures(IoFigures& sum, IoClass io_class, const CallFigures& calls, const Maybe& own_ns) {
  add_saturating(sum.calls, calls.calls);
  if (io_class == IoClass::kRead) add_saturating(sum.reads, calls.calls);
  if (io_class == IoClass::kWrite) add_saturating(sum.writes, calls.calls);
  if (io_class == IoClass::kOpen) add_saturating(sum.opens, calls.calls);
  add_saturating(sum.errors, calls.errors);
  if (is_read(io_class)) add_saturating(sum.read_bytes, calls.bytes.value_or(0));
  if (is_written(io_class)) add_saturating(sum.written_bytes, calls.bytes.value_or(0));
  add_saturating(sum.io_ns, own_ns && !is_io(io_class) ? Maybe(0) : own_ns);
  if (io_class == IoClass::kWait) add_saturating(sum.wait_ns, own_ns.value_or(0));
}

std::string_view chosen_layer(const std::vector<std::string_view>& layers) {
  for (const std::string_view wanted : {"sys", "c"}) {
    if (std::find(layers.begin(), layers.end(), wanted) != layers.end()) return wanted;
  }
  return layers.front();
}

// Makes the profile of the sums.
class IoBuilder {
 public:
  IoBuilder(const Collected& tables, IoProfile& profile)
      : tables_(tables), sums_(*profile.owner), profile_(profile) {}

  void build() {
    add_functions();
    if (profile_.functions.empty()) return;
    choose_layer();
    for (const CallSums::Sum& sum : sums_.sums()) add(sum);
    for (auto& [name, figures] : files_) profile_.files.push_back({sums_.text(name), figures});
    std::sort(profile_.files.begin(), profile_.files.end(), [](const IoFile& a, const IoFile& b) {
      const auto key = [](const IoFile& file) {
        return std::tuple(-file.figures.bytes(), -file.figures.io_ns.value_or(0),
                          -file.figures.calls);
      };
      return std::tuple(key(a), a.name) < std::tuple(key(b), b.name);
    });
    add_parts();
  }

 private:
  void add_functions() {
    const std::vector<CalledFunction>& called = sums_.functions();
    std::vector<CallFigures> figures(called.size());
    for (const CallSums::Sum& sum : sums_.sums()) figures[sum.key.function] += sum.figures;
    classes_.assign(called.size(), IoClass::kOther);
    for (size_t i = 1; i < called.size(); ++i) {
      const std::string_view layer = sums_.text(called[i].layer);
      const std::string_view name = sums_.text(called[i].name);
      if (!is_io_layer(layer)) continue;
      classes_[i] = io_class(layer, name);
      profile_.functions.push_back({layer, name, classes_[i], figures[i], &called[i].latency});
    }
    std::sort(profile_.functions.begin(), profile_.functions.end(),
              [](const IoFunction& a, const IoFunction& b) {
                const auto key = [](const IoFunction& function) {
                  return std::tuple(layer_depth(function.layer), function.layer,
                                    -function.self_ns().value_or(0), -function.figures.calls,
                                    function.name);
                };
                return key(a) < key(b);
              });
  }

  void choose_layer() {
    for (const IoFunction& function : profile_.functions) {
      if (profile_.layers.empty() || profile_.layers.back() != function.layer)
        profile_.layers.push_back(function.layer);
    }
    profile_.layer = chosen_layer(profile_.layers);
    for (size_t i = 1; i < sums_.functions().size(); ++i) {
      const CalledFunction& function = sums_.functions()[i];
      if (sums_.text(function.layer) != profile_.layer) continue;
      if (classes_[i] != IoClass::kMemory)
        add_saturating(profile_.traced_calls, function.traced_calls);
      if (is_read(classes_[i])) profile_.read.add(function.bytes);
      if (is_written(classes_[i])) profile_.written.add(function.bytes);
    }
    profile_.read.settle();
    profile_.written.settle();
  }

  // Own time is without the calls inside, also of other layers; there, the whole is what counts.
  [[nodiscard]] Maybe own_ns(const CallFigures& figures) const {
    const Maybe& self_ns = profile_.layers.size() > 1 ? figures.time_ns : figures.self_time_ns;
    return self_ns ? self_ns : figures.time_ns;
  }

  void add(const CallSums::Sum& sum) {
    const CalledFunction& function = sums_.functions()[sum.key.function];
    if (sums_.text(function.layer) != profile_.layer) return;
    const IoClass io_class = classes_[sum.key.function];
    if (io_class == IoClass::kMemory) return;
    const Maybe ns = own_ns(sum.figures);
    add_figures(profile_.total, io_class, sum.figures, ns);
    if (sum.key.file != StringId::kNone)
      add_figures(files_[sum.key.file], io_class, sum.figures, ns);
    if (sum.key.thread != ThreadId::kNone) {
      const ThreadKey& key = sums_.names().threads[index_of(sum.key.thread)];
      add_figures(threads_[{key.pid, key.tid}], io_class, sum.figures, ns);
      add_figures(processes_[key.pid], io_class, sum.figures, ns);
    }
  }

  void add_parts() {
    std::map<int64_t, std::string_view> process_names;
    std::map<std::pair<int64_t, int64_t>, std::string_view> thread_names;
    for (const Process& process : tables_.rows.of<Process>()) {
      process_names[process.pid] = tables_.text(process.name);
      if (!processes_.contains(process.pid))
        profile_.silent.emplace_back(tables_.text(process.name));
    }
    for (const Thread& thread : tables_.rows.of<Thread>())
      thread_names[{thread.pid, thread.tid}] = tables_.text(thread.name);
    std::map<int64_t, int64_t> counts;
    for (const auto& [key, figures] : threads_) {
      ++counts[key.first];
      const auto name = thread_names.find(key);
      profile_.threads.push_back(
          {key.first, key.second,
           std::string(name != thread_names.end() ? name->second : process_names[key.first]), 1,
           figures});
    }
    for (const auto& [pid, figures] : processes_)
      profile_.processes.push_back({pid, 0, std::string(process_names[pid]), counts[pid], figures});
    const auto by_time = [](const IoPart& a, const IoPart& b) {
      return std::tuple(a.figures.io_ns, a.figures.calls) >
             std::tuple(b.figures.io_ns, b.figures.calls);
    };
    std::stable_sort(profile_.threads.begin(), profile_.threads.end(), by_time);
    std::stable_sort(profile_.processes.begin(), profile_.processes.end(), by_time);
  }

  const Collected& tables_;
  const CallSums& sums_;
  IoProfile& profile_;
  std::vector<IoClass> classes_;  // of each function
  std::map<StringId, IoFigures> files_;
  std::map<std::pair<int64_t, int64_t>, IoFigures> threads_;
  std::map<int64_t, IoFigures> processes_;
};

void describe_run(const Collected& tables, IoProfile& profile) {
  for (const ProbeStatus& probe : tables.rows.of<ProbeStatus>()) {
    if (tables.text(probe.probe) != kProbe) continue;
    const std::string_view settings = tables.text(probe.settings);
    const size_t filters = settings.find(kFilters);
    IoCoverage coverage;
    coverage.dropped = probe.dropped;
    coverage.why = tables.text(probe.why);
    coverage.traced = settings.starts_with("trace");
    coverage.stacks = settings.starts_with("trace, stacks");
    if (filters != std::string_view::npos)
      coverage.filters = settings.substr(filters + kFilters.size());
    profile.coverage = std::move(coverage);
  }
  if (tables.rows.of<Run>().empty()) return;
  const Run& run = tables.rows.of<Run>().front();
  const bool imported = tables.text(run.launcher).starts_with("import");
  profile.command = tables.text(imported ? run.label : run.command);
}

CallRange call_range(const Collected& tables, const ProfileFilter& filter) {
  CallRange range;
  Run run;
  if (!tables.rows.of<Run>().empty()) run = tables.rows.of<Run>().front();
  const auto at = [&](int64_t offset_ns) {
    int64_t time_ns = run.start_ns;
    add_saturating(time_ns, offset_ns);
    return time_ns;
  };
  if (filter.from_ns) range.from_ns = at(*filter.from_ns);
  if (filter.to_ns) range.to_ns = at(*filter.to_ns);
  range.origin_ns = at(filter.from_ns.value_or(0));
  range.last_ns = std::min(run.end_ns.value_or(INT64_MAX), range.to_ns);
  return range;
}

// Nothing was found: why.
Error nothing_found(const Recording& recording, const ProfileFilter& filter,
                    const IoProfile& profile) {
  if (filter.from_ns || filter.to_ns) {
    return Error{Code::kNotFound, recording.path() + " holds no I/O calls of that time",
                 "leave out --from or --to"};
  }
  Error error{Code::kNotFound, recording.path() + " holds no I/O calls",
              "record them with: fathom run --probe io -- COMMAND"};
  if (profile.coverage) {
    error.message += ", though the probe io ran";
    error.hint = "the recorded program did none that the probe sees";
    if (!profile.coverage->why.empty()) error.hint = printable(profile.coverage->why);
  }
  return error;
}

}  // namespace

std::string waited_in(const IoProfile& profile) {
  constexpr size_t kMostNames = 3;
  std::vector<std::string> names;
  for (const IoFunction& function : profile.functions) {
    if (function.layer != profile.layer || function.io_class != IoClass::kWait) continue;
    if (function.self_ns().value_or(0) <= 0) continue;
    names.push_back(names.size() < kMostNames ? printable(function.name) : "…");
    if (names.size() > kMostNames) break;
  }
  return join(names, ", ");
}

std::vector<std::string> filter_lines(const IoProfile& profile) {
  if (!profile.coverage || profile.coverage->filters.empty()) return {};
  std::vector<std::string> lines = {printable(profile.coverage->filters)};
  if (!profile.coverage->traced) {
    lines.emplace_back("calls on other files are counted without their file");
  } else {
    const int64_t removed = std::max<int64_t>(profile.total.calls - profile.traced_calls, 0);
    lines.push_back(fmt::format("{} of {} calls are counted without offset, result and stack",
                                format_count(removed), format_count(profile.total.calls)));
  }
  lines.emplace_back("totals are of all calls");
  return lines;
}

Result<IoProfile> load_io_profile(const Recording& recording, const ProfileFilter& filter) {
  TRY_ASSIGN(const auto tables,
             collect_as_written(recording, tables_of<Run, ProbeStatus, Process, Thread>()));
  IoProfile profile;
  profile.owner = std::make_unique<CallSums>();
  describe_run(*tables, profile);
  ThreadFilter threads(filter, *tables);
  CallRange range = call_range(*tables, filter);
  if (!threads.open()) range.wanted = [&](const ThreadKey& key) { return threads.passes(key); };
  TRY(profile.owner->add(recording, range));
  IoBuilder(*tables, profile).build();
  if (profile.functions.empty()) {
    TRY(threads.found("call"));
    return nothing_found(recording, filter, profile);
  }
  if (profile.coverage && profile.coverage->stacks) {
    const auto is_wanted = [&](std::string_view name) {
      return is_io(io_class(profile.layer, name));
    };
    TRY_ASSIGN(profile.sites, load_call_sites(recording, range, profile.layer, is_wanted));
  }
  if (!threads.open() || filter.from_ns || filter.to_ns) profile.silent.clear();
  profile.damage = damage_of(recording, *tables);
  profile.from_ns = filter.from_ns.value_or(0);
  profile.slice_ns = profile.owner->slice_ns();
  // A torn recording has no end of its own.
  const std::vector<Run>& runs = tables->rows.of<Run>();
  const bool ended = !runs.empty() && runs.front().end_ns;
  const int64_t end_ns = ended ? range.last_ns : std::min(profile.owner->last_ns(), range.last_ns);
  profile.duration_ns = std::max<int64_t>(difference_saturating(end_ns, range.origin_ns), 0);
  return profile;
}

}  // namespace fathom
