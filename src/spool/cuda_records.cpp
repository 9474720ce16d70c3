// SPDX-License-Identifier: Apache-2.0
#include "spool/cuda_records.h"

#include <fmt/format.h>

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
    const DetailItem item{out_.string("device"), out_.string(printable(object.value("device")))};
    span.detail = out_.names().detail({&item, 1});
    out_.add(span);
    return true;
  }
  if (call.origin.call == "gpu_kernel" || call.origin.call == "gpu_copy" ||
      call.origin.call == "gpu_set") {
    add_device_span(call);
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
void CudaRecords::add_device_span(const SpoolCall& call) {
  const Object object = object_in(call.origin.file);
  Span span;
  span.start_ns = call.start_ns;
  span.duration_ns = call.duration_ns;
  span.thread = out_.names().thread(call.origin.pid, call.origin.tid);
  span.layer = out_.string("gpu");
  span.name = out_.string(call.origin.call == "gpu_kernel" ? "kernel"
                          : call.origin.call == "gpu_copy" ? "copy"
                                                           : "set");
  span.file = out_.string(printable(object.name));
  if (call.has_bytes) span.bytes = call.value;
  std::vector<DetailItem> items;
  for (const auto& [key, value] : object.parts)
    items.push_back({out_.string(printable(key)), out_.string(printable(value))});
  if (!items.empty()) span.detail = out_.names().detail(items);
  out_.add(span);
}

void CudaRecords::on_call(const SpoolCall& call) {
  if (take_note(call)) return;
  Span span;
  span.start_ns = call.start_ns;
  span.duration_ns = call.duration_ns;
  span.thread = out_.names().thread(call.origin.pid, call.origin.tid);
  span.layer = out_.string(kLayer);
  span.name = out_.string(printable(call.origin.call));
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

// The library writes none.
void CudaRecords::on_cell(const SpoolCell& cell) { add_saturating(calls_, cell.count); }

}  // namespace fathom
