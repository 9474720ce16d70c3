// SPDX-License-Identifier: Apache-2.0
#include "report/gpu_profile.h"

#include <algorithm>
#include <tuple>

#include "base/saturate.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr std::string_view kLayer = "cuda";
constexpr std::string_view kDeviceLayer = "gpu";
constexpr std::string_view kLeakLayer = "cuda leak";

// How many launches it stands for, where not all were recorded.
int64_t weight_of(const Span& span, const Dictionary& names) {
  if (span.detail == DetailId::kNone) return 1;
  for (const DetailItem& item : names.items(span.detail)) {
    const int64_t* weight = std::get_if<int64_t>(&item.value);
    if (weight != nullptr && names.text(item.key) == "weight") return std::max<int64_t>(*weight, 1);
  }
  return 1;
}

int64_t times(int64_t value, int64_t by) {
  int64_t product = 0;
  return __builtin_mul_overflow(value, by, &product) ? INT64_MAX : product;
}

void add_call(GpuCalls& sum, const Span& span, int64_t weight = 1) {
  const int64_t took_ns = std::max<int64_t>(span.duration_ns, 0);
  add_saturating(sum.calls, weight);
  add_saturating(sum.time_ns, times(took_ns, weight));
  add_saturating(sum.bytes, std::max<int64_t>(span.bytes.value_or(0), 0));
  sum.has_results |= span.result.has_value();
  if (span.result.value_or(0) < 0) add_saturating(sum.errors, int64_t{1});
  sum.longest_ns = std::max(sum.longest_ns, took_ns);
}

void add_counter(GpuCalls& sum, const Counter& counter) {
  add_saturating(sum.calls, std::max<int64_t>(counter.count, 0));
  add_saturating(sum.time_ns, std::max<int64_t>(counter.time_ns.value_or(0), 0));
  if (!counter.time_ns) add_saturating(sum.untimed, std::max<int64_t>(counter.count, 0));
  add_saturating(sum.bytes, std::max<int64_t>(counter.bytes.value_or(0), 0));
  sum.has_results |= counter.errors.has_value();
  add_saturating(sum.errors, std::max<int64_t>(counter.errors.value_or(0), 0));
}

template <class Figures, class Less>
std::vector<Named<Figures>> sorted(std::map<std::string, Figures, std::less<>>& by_name,
                                   const Less& less) {
  std::vector<Named<Figures>> list;
  list.reserve(by_name.size());
  for (auto& [name, figures] : by_name) list.push_back({name, figures});
  std::stable_sort(list.begin(), list.end(), less);
  return list;
}

class GpuBuilder {
 public:
  explicit GpuBuilder(GpuProfile& profile) : profile_(profile) {}

  void add(const Batch& batch) {
    const Dictionary& names = batch.dictionary;
    for (const Span& span : batch.rows.of<Span>()) {
      if (names.text(span.layer) == kLayer) add_span(span, names);
      if (names.text(span.layer) == kDeviceLayer)
        add_call(on_device_[std::string(names.text(span.file))], span);
      if (names.text(span.layer) == kLeakLayer) add_leak(span, names);
    }
    for (const Counter& counter : batch.rows.of<Counter>())
      if (names.text(counter.layer) == kLayer) add_sum(counter, names);
    for (const Gauge& gauge : batch.rows.of<Gauge>()) {
      if (names.text(gauge.name) == "allocated") add_memory(gauge, names, true);
      // Of metrics.log, which holds the last value alone.
      if (names.text(gauge.name) == "mem_used" && names.text(gauge.scope) == kDeviceLayer)
        add_memory(gauge, names, false);
    }
  }

  void finish() {
    profile_.kernels = sorted(kernels_, [](const auto& a, const auto& b) {
      return std::tuple(-a.figures.calls, a.name) < std::tuple(-b.figures.calls, b.name);
    });
    const auto by_time = [](const auto& a, const auto& b) {
      return std::tuple(-a.figures.time_ns, -a.figures.calls, a.name) <
             std::tuple(-b.figures.time_ns, -b.figures.calls, b.name);
    };
    profile_.functions = sorted(functions_, by_time);
    profile_.on_device = sorted(on_device_, by_time);
    profile_.leaked_by = sorted(leaked_by_, [](const auto& a, const auto& b) {
      return std::tuple(-a.figures.bytes, a.name) < std::tuple(-b.figures.bytes, b.name);
    });
    profile_.copies = sorted(copies_, [](const auto& a, const auto& b) {
      return std::tuple(-a.figures.all.bytes, a.name) < std::tuple(-b.figures.all.bytes, b.name);
    });
  }

 private:
  void add_span(const Span& span, const Dictionary& names) {
    const std::string_view name = names.text(span.name);
    const std::string object(names.text(span.file));
    const int64_t weight = is_launch(name) ? weight_of(span, names) : 1;
    add_call(profile_.total, span, weight);
    add_call(functions_[std::string(name)], span, weight);
    profile_.latency[std::string(name)].add_call(std::max<int64_t>(span.duration_ns, 0));
    if (is_wait(name)) add_call(profile_.waits, span);
    if (is_copy(name)) {
      GpuCopies& copies = copies_[object.empty() ? "?" : object];
      add_call(copies.all, span);
      if (name.find("Async") == std::string_view::npos) {
        add_saturating(copies.waited_bytes, std::max<int64_t>(span.bytes.value_or(0), 0));
        add_saturating(copies.waited_ns, std::max<int64_t>(span.duration_ns, 0));
      }
    }
    if (!is_launch(name)) return;
    add_call(profile_.launches, span, weight);
    if (!object.empty()) add_call(kernels_[object], span, weight);
    if (weight == 1) add_gap(span, names);
  }

  // Launches of a thread come in their order; where they do not, there is no gap to tell.
  void add_gap(const Span& span, const Dictionary& names) {
    const ThreadKey& thread = names.threads[index_of(span.thread)];
    int64_t end_ns = span.start_ns;
    add_saturating(end_ns, std::max<int64_t>(span.duration_ns, 0));
    const auto [last, is_new] = last_launch_.try_emplace({thread.pid, thread.tid}, end_ns);
    if (is_new) return;
    if (span.start_ns >= last->second)
      profile_.gaps.add_call(difference_saturating(span.start_ns, last->second));
    last->second = std::max(last->second, end_ns);
  }

  void add_leak(const Span& span, const Dictionary& names) {
    add_call(profile_.leaks, span);
    if (span.detail == DetailId::kNone) return;
    for (const DetailItem& item : names.items(span.detail)) {
      const StringId* stack = std::get_if<StringId>(&item.value);
      if (stack != nullptr && names.text(item.key) == "stack")
        add_call(leaked_by_[std::string(names.text(*stack))], span);
    }
  }

  void add_sum(const Counter& counter, const Dictionary& names) {
    const std::string_view name = names.text(counter.name);
    add_counter(profile_.total, counter);
    add_counter(functions_[std::string(name)], counter);
    if (is_launch(name)) add_counter(profile_.launches, counter);
    if (is_wait(name)) add_counter(profile_.waits, counter);
  }

  void add_memory(const Gauge& gauge, const Dictionary& names, bool over_time) {
    GpuMemory& memory = profile_.memory[std::string(names.text(gauge.scope))];
    if (over_time) memory.peak_bytes = std::max(memory.peak_bytes.value_or(0), gauge.value);
    if (gauge.time_ns < memory.last_ns) return;
    memory.last_ns = gauge.time_ns;
    memory.last_bytes = gauge.value;
  }

  GpuProfile& profile_;
  std::map<std::string, GpuCalls, std::less<>> kernels_, functions_, on_device_, leaked_by_;
  std::map<std::string, GpuCopies, std::less<>> copies_;
  std::map<std::pair<int64_t, int64_t>, int64_t> last_launch_;  // its end, by thread
};

void add_run(const Collected& tables, GpuProfile& profile) {
  for (const Run& run : tables.rows.of<Run>()) {
    profile.command = tables.text(run.command);
    profile.imported = tables.text(run.launcher).starts_with("import");
    if (run.end_ns) profile.duration_ns = std::max<int64_t>(*run.end_ns - run.start_ns, 0);
  }
  for (const ProbeStatus& probe : tables.rows.of<ProbeStatus>()) {
    if (tables.text(probe.probe) != "cuda") continue;
    profile.has_probe = true;
    profile.dropped = probe.dropped;
    profile.why = tables.text(probe.why);
  }
}

}  // namespace

bool is_launch(std::string_view function) {
  return function.starts_with("cuLaunchKernel") || function.starts_with("cuLaunchCooperative") ||
         function.starts_with("cuGraphLaunch") || function == "cuLaunch" ||
         function.starts_with("cuLaunchGrid");
}

bool is_wait(std::string_view function) {
  return function.starts_with("cuStreamSynchronize") ||
         function.starts_with("cuEventSynchronize") || function.starts_with("cuCtxSynchronize");
}

bool is_copy(std::string_view function) { return function.starts_with("cuMemcpy"); }

Result<GpuProfile> load_gpu_profile(const Recording& recording) {
  GpuProfile profile;
  TRY_ASSIGN(const auto tables, collect_as_written(recording, tables_of<Run, ProbeStatus>()));
  add_run(*tables, profile);
  GpuBuilder builder(profile);
  TRY(recording.read(tables_of<Span, Counter, Gauge>(), [&](const Batch& batch) -> Status {
    builder.add(batch);
    return {};
  }));
  builder.finish();
  profile.damage = damage_of(recording, *tables);
  if (profile.total.calls == 0 && profile.memory.empty())
    return Error{Code::kNotFound, "no call of the CUDA driver was recorded",
                 "record some: fathom run --probe cuda -- COMMAND"};
  return profile;
}

}  // namespace fathom
