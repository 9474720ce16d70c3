// SPDX-License-Identifier: Apache-2.0
#include "probe/io/kernel_records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/saturate.h"
#include "base/text.h"

namespace fathom {
namespace {

template <class Record>
bool read_whole(std::span<const std::byte> from, Record& to) {
  if (from.size() != sizeof to) return false;
  std::memcpy(&to, from.data(), sizeof to);
  return true;
}

constexpr size_t kMaxCounted = 4096;  // sums of calls without details held at once

size_t bucket_of(uint64_t time_ns) {
  return std::min<size_t>(time_ns < 2 ? 0 : std::bit_width(time_ns) - 1, kWireBuckets - 1);
}

// The histogram of a single call.
std::span<const int64_t> one_in(std::array<int64_t, kWireBuckets>& buckets, uint64_t time_ns) {
  const size_t bucket = bucket_of(time_ns);
  buckets[bucket] = 1;
  return std::span<const int64_t>(buckets).first(bucket + 1);
}

}  // namespace

KernelRecords::KernelRecords(RecordStream& out, std::vector<KernelFunction> functions,
                             KernelRecordSettings settings)
    : out_(out), functions_(std::move(functions)), settings_(std::move(settings)), names_(out) {
  function_ids_.resize(functions_.size());
  out_.keep_ids([this](const Dictionary& /*from*/, Interner& /*to*/) {
    function_ids_.assign(functions_.size(), {});
    file_ids_.clear();
  });
}

KernelRecords::Kept KernelRecords::kept_of(const std::string& name) const {
  const auto begins_so = [&name](const std::string& prefix) { return name.starts_with(prefix); };
  const auto& prefixes = settings_.path_prefixes;
  const auto& own = settings_.own_prefixes;
  if (std::any_of(own.begin(), own.end(), begins_so)) return Kept::kNothing;
  const bool fits = prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(), begins_so);
  return fits ? Kept::kDetails : Kept::kCount;
}

KernelRecords::KnownName& KernelRecords::name_of(uint32_t file) {
  const auto [place, added] = file_ids_.try_emplace(file);
  if (!added) return place->second;
  const std::string* name = files_.find(file);
  if (name == nullptr) return place->second;
  place->second.id = out_.string(printable(*name));
  place->second.kept = kept_of(*name);
  return place->second;
}

KernelRecords::Kept KernelRecords::kept_of(uint32_t file) {
  if (file == 0) return settings_.path_prefixes.empty() ? Kept::kDetails : Kept::kCount;
  if (settings_.path_prefixes.empty() && settings_.own_prefixes.empty()) return Kept::kDetails;
  return name_of(file).kept;
}

bool KernelRecords::take(std::span<const std::byte> record, bool last) {
  WireCallHead head;
  if (record.size() < sizeof head) {
    ++damaged_;
    return true;
  }
  std::memcpy(&head, record.data(), sizeof head);
  if (head.function >= functions_.size()) {
    ++damaged_;
    return true;
  }
  if (head.file != 0 && !last && files_.find(head.file) == nullptr) return false;
  const Kept kept = kept_of(head.file);
  if (kept == Kept::kNothing) {
    ++left_out_;
    return true;
  }
  const bool details = kept == Kept::kDetails;
  WireOneCall one;
  WireSumOfCalls sum;
  WireTracedCall traced;
  if (head.kind == kWireTracedCall && read_whole(record, traced)) {
    details ? take_traced(traced) : count_traced(traced);
  } else if (head.kind == kWireOneCall && read_whole(record, one)) {
    if (!details) one.head.file = 0;
    take_one(one);
  } else if (head.kind == kWireSumOfCalls && read_whole(record, sum)) {
    if (!details) sum.head.file = 0;
    take_sum(sum);
  } else {
    ++damaged_;
  }
  return true;
}

Counter KernelRecords::counter_of(const WireCallHead& head, uint32_t slice) {
  FunctionIds& ids = function_ids_[head.function];
  if (ids.name == StringId::kNone) {
    ids.layer = out_.string(functions_[head.function].layer);
    ids.name = out_.string(functions_[head.function].name);
  }
  Counter counter;
  counter.slice_ns = settings_.slice_base_ns + int64_t{slice} * settings_.interval_ns;
  counter.slice_length_ns = settings_.interval_ns;
  if (head.pid != 0) counter.thread = names_.thread(head.pid, head.tid);
  counter.layer = ids.layer;
  counter.name = ids.name;
  if (head.file != 0) counter.file = name_of(head.file).id;
  return counter;
}

void KernelRecords::add(Counter& counter, const KernelFunction& function, uint64_t time_ns,
                        uint64_t self_ns, uint64_t bytes, std::span<const int64_t> latency,
                        bool timed) {
  if (function.has_bytes) counter.bytes = count_or_none(bytes);
  if (function.has_time && settings_.times && timed) {
    counter.time_ns = count_or_none(time_ns);
    counter.self_time_ns = count_or_none(self_ns);
    counter.latency = out_.histogram(latency);
  }
  calls_ += counter.count;
  out_.add(counter);
}

void KernelRecords::take_one(const WireOneCall& call) {
  Counter counter = counter_of(call.head, call.slice);
  counter.count = 1;
  const bool timed = (call.flags & kOneUntimed) == 0;
  if (timed) counter.errors = (call.flags & kOneFailed) != 0 ? 1 : 0;
  std::array<int64_t, kWireBuckets> buckets{};
  add(counter, functions_[call.head.function], call.time_ns, call.self_ns, call.bytes,
      one_in(buckets, call.time_ns), timed);
}

void KernelRecords::take_sum(const WireSumOfCalls& sum) {
  Counter counter = counter_of(sum.head, sum.slice);
  counter.count = sum.count;
  counter.errors = sum.errors;
  std::array<int64_t, kWireBuckets> buckets{};
  size_t used = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    buckets[i] = sum.latency[i];
    if (buckets[i] != 0) used = i + 1;
  }
  add(counter, functions_[sum.head.function], sum.time_ns, sum.self_ns, sum.bytes,
      std::span<const int64_t>(buckets).first(used));
}

void KernelRecords::take_stacked(const WireTracedCall& call, StackId stack, DetailId detail) {
  if (call.head.function >= functions_.size()) {
    ++damaged_;
    return;
  }
  switch (kept_of(call.head.file)) {
    case Kept::kDetails:
      return take_traced(call, stack, detail);
    case Kept::kCount:
      return count_traced(call);
    case Kept::kNothing:
      ++left_out_;
  }
}

// In the slice in which it began, as the kernel half sums calls.
void KernelRecords::count_traced(const WireTracedCall& call) {
  const uint64_t base_ns = static_cast<uint64_t>(settings_.slice_base_ns);
  const uint64_t since_ns = call.start_ns > base_ns ? call.start_ns - base_ns : 0;
  const auto slice = static_cast<uint32_t>(since_ns / static_cast<uint64_t>(settings_.interval_ns));
  const WireCallHead& head = call.head;
  WireSumOfCalls& sum = counted_[{head.pid, head.tid, head.function, slice}];
  sum.head = {kWireSumOfCalls, head.function, 0, head.pid, head.tid};
  sum.slice = slice;
  sum.count += 1;
  sum.errors += call.result < 0 ? 1 : 0;
  sum.time_ns += call.duration_ns;
  sum.self_ns += call.self_ns;
  sum.bytes += static_cast<uint64_t>(std::max<int64_t>(call.result, 0));
  sum.latency[bucket_of(call.duration_ns)] += 1;
  if (sum.count >= kWireFullCell || counted_.size() >= kMaxCounted) flush();
}

void KernelRecords::flush() {
  for (const auto& [key, sum] : counted_) take_sum(sum);
  counted_.clear();
}

void KernelRecords::take_traced(const WireTracedCall& call, StackId stack, DetailId detail) {
  const KernelFunction& function = functions_[call.head.function];
  const Counter from = counter_of(call.head, 0);
  Span span;
  span.start_ns = count_or_none(call.start_ns);
  span.duration_ns = count_or_none(call.duration_ns);
  span.thread = from.thread;
  span.layer = from.layer;
  span.name = from.name;
  span.file = from.file;
  if (function.has_bytes) span.bytes = std::max<int64_t>(call.result, 0);
  span.result = call.result;
  if (call.offset >= 0) span.offset_bytes = call.offset;
  span.stack = stack;
  span.detail = detail;
  ++calls_;
  out_.add(span);
}

}  // namespace fathom
