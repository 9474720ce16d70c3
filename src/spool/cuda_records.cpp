// SPDX-License-Identifier: Apache-2.0
#include "spool/cuda_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/saturate.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr const char* kLayer = "cuda";
constexpr size_t kMostNotWrapped = 1'000;
constexpr size_t kMostParts = 16;

// NAME, then KEY=VALUE, with tabs between.
struct Object {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> parts;

  [[nodiscard]] std::string_view value(std::string_view key) const {
    for (const auto& [known, value] : parts)
      if (known == key) return value;
    return {};
  }
};

Object object_in(std::string_view text) {
  Object object;
  size_t tab = text.find('\t');
  object.name = text.substr(0, tab);
  while (tab != std::string_view::npos && object.parts.size() < kMostParts) {
    text.remove_prefix(tab + 1);
    tab = text.find('\t');
    const std::string_view part = text.substr(0, tab);
    if (const size_t sign = part.find('='); sign != std::string_view::npos)
      object.parts.emplace_back(part.substr(0, sign), part.substr(sign + 1));
  }
  return object;
}

// What a call and the work that it starts have in common.
std::string key_of(std::string_view kind, const Object& object, const SpoolCall& call) {
  if (kind == "gpu_kernel")
    return fmt::format("{} {} {}", object.name, object.value("grid"), object.value("block"));
  return fmt::format("{} {} {}", kind, kind == "gpu_copy" ? object.name : "", call.value);
}

// The driver, or a library above it.
std::string_view layer_of(std::string_view call) {
  for (const std::string_view layer : {"nccl", "cublas", "cudnn"})
    if (call.starts_with(layer)) return layer;
  return kLayer;
}

}  // namespace

// What the library says beside calls. False: it is a call.
bool CudaRecords::take_note(const SpoolCall& call) {
  const Object object = object_in(call.origin.file);
  if (call.origin.call == "memory_in_use") {
    Gauge gauge;
    gauge.time_ns = call.start_ns;
    gauge.scope = out_.string(
        fmt::format("gpu {} of process {}", printable(object.value("device")), call.origin.pid));
    gauge.name = out_.string("allocated");
    gauge.unit = out_.string("bytes");
    gauge.value = static_cast<double>(call.value);
    out_.add(gauge);
    return true;
  }
  if (call.origin.call == "memory_leaked") {
    add_saturating(leaks_, int64_t{1});
    add_saturating(leaked_bytes_, call.value);
    Span span;
    span.start_ns = call.start_ns;
    span.thread = out_.names().thread(call.origin.pid, call.origin.tid);
    span.layer = out_.string("cuda leak");
    span.name = out_.string(printable(object.name));
    span.bytes = call.value;
    std::vector<DetailItem> items;
    for (const auto& [key, value] : object.parts)
      items.push_back({out_.string(printable(key)), out_.string(printable(value))});
    if (!items.empty()) span.detail = out_.names().detail(items);
    out_.add(span);
    return true;
  }
  if (call.origin.call == "gpu_kernel" || call.origin.call == "gpu_copy" ||
      call.origin.call == "gpu_set") {
    keep_work(call);
    return true;
  }
  if (call.origin.call == "gpu_times_missing") {
    no_gpu_times_ = printable(call.origin.file);
    return true;
  }
  if (call.origin.call != "not_wrapped") return false;
  if (not_wrapped_.size() < kMostNotWrapped) not_wrapped_.insert(printable(call.origin.file));
  return true;
}

// What ran on the device, as CUPTI tells it: its object is its name.
void CudaRecords::keep_work(const SpoolCall& call) {
  constexpr int64_t kInGraph = int64_t{1} << 32;
  Work work{call, std::string(call.origin.call), std::string(call.origin.file), 0, false, false};
  if (!call.has_bytes && call.value > 0) {
    work.cupti = call.value & (kInGraph - 1);
    work.in_graph = (call.value & kInGraph) != 0;
  }
  works_.push_back(std::move(work));
}

void CudaRecords::join(bool last) {
  std::stable_sort(works_.begin(), works_.end(), [](const Work& a, const Work& b) {
    return std::tuple(a.cupti, a.call.start_ns) < std::tuple(b.cupti, b.call.start_ns);
  });
  std::vector<Work> later;
  for (Work& work : works_) {
    const int64_t pid = work.call.origin.pid, start_ns = work.call.start_ns;
    const Object object = object_in(work.file);
    const auto number = work.in_graph
                            ? launches_.ran_in_graph(pid, work.cupti, start_ns)
                            : launches_.ran(pid, key_of(work.kind, object, work.call), start_ns);
    if (!number && !last && !work.waited) {
      work.waited = true;
      later.push_back(std::move(work));
    } else {
      add_work(work, number);
    }
  }
  works_ = std::move(later);
}

void CudaRecords::add_work(const Work& work, Maybe correlation) {
  const Object object = object_in(work.file);
  Span span;
  span.start_ns = work.call.start_ns;
  span.duration_ns = work.call.duration_ns;
  span.thread = out_.names().thread(work.call.origin.pid, work.call.origin.tid);
  span.layer = out_.string("gpu");
  span.name = out_.string(work.kind == "gpu_kernel" ? "kernel"
                          : work.kind == "gpu_copy" ? "copy"
                                                    : "set");
  span.file = out_.string(printable(object.name));
  span.correlation = correlation;
  if (work.call.has_bytes) span.bytes = work.call.value;
  std::vector<DetailItem> items;
  for (const auto& [key, value] : object.parts)
    items.push_back({out_.string(printable(key)), out_.string(printable(value))});
  if (!items.empty()) span.detail = out_.names().detail(items);
  out_.add(span);
}

// The number of a call that starts work on a device, which that work will have, too.
Maybe CudaRecords::number_of(const SpoolCall& call) {
  const std::string_view name = call.origin.call;
  const int64_t pid = call.origin.pid, tid = call.origin.tid;
  if (name.starts_with("cuStreamBeginCapture") && !call.failed) launches_.capture(pid, tid, true);
  if (name.starts_with("cuStreamEndCapture")) launches_.capture(pid, tid, false);
  if (call.failed || launches_.captures(pid, tid)) return {};
  std::string_view kind;
  if (name.starts_with("cuLaunchKernel") || name.starts_with("cuLaunchCooperative"))
    kind = "gpu_kernel";
  else if (name.starts_with("cuMemcpy"))
    kind = "gpu_copy";
  else if (name.starts_with("cuMemset"))
    kind = "gpu_set";
  if (name.starts_with("cuGraphLaunch"))
    return launches_.called(pid, LaunchJoin::kGraph, call.start_ns);
  if (kind.empty()) return {};
  return launches_.called(pid, key_of(kind, object_in(call.origin.file), call), call.start_ns);
}

void CudaRecords::on_call(const SpoolCall& call) {
  if (take_note(call)) return;
  Span span;
  span.start_ns = call.start_ns;
  span.duration_ns = call.duration_ns;
  span.thread = names_.thread(call.origin.pid, call.origin.tid);
  span.layer = names_.text(layer_of(call.origin.call));
  span.name = names_.text(call.origin.call);
  if (joins_ && no_gpu_times_.empty()) span.correlation = number_of(call);
  const Object object = object_in(call.origin.file);
  if (!object.name.empty()) span.file = out_.string(printable(object.name));
  std::vector<DetailItem> items;
  for (const auto& [key, value] : object.parts)
    items.push_back({out_.string(printable(key)), out_.string(printable(value))});
  if (!call.has_bytes && call.value > 1) items.push_back({out_.string("weight"), call.value});
  if (call.has_bytes) span.bytes = call.failed ? 0 : call.value;
  if (call.abandoned) {
    items.push_back({out_.string("ended"), out_.string("abandoned")});
  } else {
    span.result = call.failed ? -int64_t{call.error} : 0;
  }
  if (!items.empty()) span.detail = out_.names().detail(items);
  ++calls_;
  out_.add(span);
}

// Calls that only ask, and those of functions that are not in the library's list, are counted.
void CudaRecords::on_cell(const SpoolCell& cell) {
  const bool is_unknown = cell.origin.call == "only_counted";
  const std::string name = printable(is_unknown ? cell.origin.file : cell.origin.call);
  if (is_unknown && only_counted_.size() < kMostNotWrapped) only_counted_.insert(name);
  Counter counter;
  counter.slice_ns = cell.slice_ns;
  counter.slice_length_ns = cell.slice_length_ns;
  counter.thread = out_.names().thread(cell.origin.pid, cell.origin.tid);
  counter.layer = out_.string(kLayer);
  counter.name = out_.string(name);
  counter.count = cell.count;
  counter.errors = cell.errors;
  if (cell.has_times) {
    counter.time_ns = cell.time_ns;
    counter.self_time_ns = cell.self_ns;
    counter.latency = out_.histogram(cell.latency);
  }
  add_saturating(calls_, cell.count);
  out_.add(counter);
}

}  // namespace fathom
