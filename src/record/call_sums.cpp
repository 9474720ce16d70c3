// SPDX-License-Identifier: Apache-2.0
#include "record/call_sums.h"

#include <algorithm>
#include <numeric>

#include "base/saturate.h"
#include "record/batch_names.h"

namespace fathom {
namespace {

// A figure is never negative, whatever the file says.
void add_figure(int64_t& sum, int64_t value) { add_saturating(sum, std::max<int64_t>(value, 0)); }

void add_figure(Maybe& sum, const Maybe& value) {
  if (!value) return;
  if (!sum) sum = 0;
  add_figure(*sum, *value);
}

int64_t end_of(int64_t start_ns, int64_t length_ns) {
  int64_t end_ns = start_ns;
  add_saturating(end_ns, std::max<int64_t>(length_ns, 0));
  return end_ns;
}

// The rows in the order they ended; what is inside another comes before it.
std::vector<uint32_t> order_by_end(const std::vector<Span>& spans) {
  std::vector<uint32_t> order(spans.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [&](uint32_t a, uint32_t b) {
    const int64_t a_ns = end_of(spans[a].start_ns, spans[a].duration_ns);
    const int64_t b_ns = end_of(spans[b].start_ns, spans[b].duration_ns);
    return a_ns != b_ns ? a_ns < b_ns : spans[a].start_ns > spans[b].start_ns;
  };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::stable_sort(order.begin(), order.end(), before);
  return order;
}

// One batch, its ids translated.
class BatchCalls {
 public:
  BatchCalls(const Batch& batch, CallSums& sums)
      : batch_(batch), names_(batch.dictionary, sums.interner()), sums_(sums) {}

  void add_counters(const CallRange& range) {
    for (Counter counter : batch_.rows.of<Counter>()) {
      translate(counter);
      sums_.add_counter(
          counter,
          std::span(batch_.rows.buckets).subspan(counter.latency.offset, counter.latency.length),
          range);
    }
  }

  void add_spans(const CallRange& range) {
    const std::vector<Span>& spans = batch_.rows.of<Span>();
    for (const uint32_t i : order_by_end(spans)) {
      Span span = spans[i];
      translate(span);
      sums_.add_span(span, range);
    }
  }

 private:
  template <class Record>
  void translate(Record& record) {
    record.thread = names_.thread(record.thread);
    record.layer = names_.string(record.layer);
    record.name = names_.string(record.name);
    record.file = names_.string(record.file);
  }

  const Batch& batch_;
  BatchNames names_;
  CallSums& sums_;
};

}  // namespace

CallFigures& CallFigures::operator+=(const CallFigures& other) {
  add_figure(calls, other.calls);
  add_figure(time_ns, other.time_ns);
  add_figure(self_time_ns, other.self_time_ns);
  add_figure(bytes, other.bytes);
  add_figure(errors, other.errors);
  return *this;
}

void CalledFunction::add_bytes(int64_t from_ns, int64_t to_ns, const Maybe& moved,
                               const CallRange& range) {
  if (!moved) return;
  const auto since = [&](int64_t time_ns) {
    return difference_saturating(std::min(time_ns, range.last_ns), range.origin_ns);
  };
  bytes.add(since(from_ns), since(to_ns), *moved);
}

size_t CallSums::HashOf::operator()(const CallKey& key) const {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  uint64_t hash = (static_cast<uint64_t>(key.thread) << 32 | key.function) * kOdd;
  hash = (hash ^ hash >> 29 ^ static_cast<uint64_t>(key.file)) * kOdd;
  return hash ^ hash >> 32;
}

bool CallSums::wanted(ThreadId thread, const CallRange& range) {
  if (!range.wanted) return true;
  if (index_of(thread) >= wanted_.size()) wanted_.resize(index_of(thread) + 1, -1);
  int8_t& known = wanted_[index_of(thread)];
  if (known < 0) known = range.wanted(names().threads[index_of(thread)]) ? 1 : 0;
  return known == 1;
}

uint32_t CallSums::function(StringId layer, StringId name) {
  // Neither of the two may be all that is not 0.
  const auto [number, added] =
      function_index_.number(static_cast<uint32_t>(layer) + 1, static_cast<uint32_t>(name));
  if (added) functions_.push_back({.layer = layer, .name = name});
  return number;
}

CallFigures& CallSums::figures(ThreadId thread, uint32_t function, StringId file) {
  const uint32_t number = key_index_.intern(keys_, {thread, function, file}, HashOf());
  if (number == figures_.size()) figures_.emplace_back();
  return figures_[number];
}

std::vector<CallSums::Sum> CallSums::sums() const {
  std::vector<Sum> sums;
  sums.reserve(keys_.size());
  for (size_t i = 1; i < keys_.size(); ++i) sums.push_back({keys_[i], figures_[i]});
  return sums;
}

void CallSums::add_counter(const Counter& counter, std::span<const int64_t> latency,
                           const CallRange& range) {
  if (counter.slice_ns < range.from_ns || counter.slice_ns >= range.to_ns) return;
  if (!wanted(counter.thread, range)) return;
  const uint32_t number = function(counter.layer, counter.name);
  figures(counter.thread, number, counter.file) +=
      {counter.count, counter.time_ns, counter.self_time_ns, counter.bytes, counter.errors};
  CalledFunction& called = functions_[number];
  called.latency.add_histogram(latency, counter.time_ns);
  const int64_t end_ns = end_of(counter.slice_ns, counter.slice_length_ns);
  called.add_bytes(counter.slice_ns, end_ns, counter.bytes, range);
  last_ns_ = std::max(last_ns_, end_ns);
  slice_ns_ = std::max(slice_ns_, counter.slice_length_ns);
}

void CallSums::add_span(const Span& span, const CallRange& range) {
  const int64_t duration_ns = std::max<int64_t>(span.duration_ns, 0);
  NestedTime& nested = names().text(span.layer) == "c" ? nested_libc_ : nested_;
  const int64_t inside_ns = nested.add(span.thread, span.start_ns, duration_ns);
  if (span.start_ns < range.from_ns || span.start_ns >= range.to_ns) return;
  if (!wanted(span.thread, range)) return;
  const uint32_t number = function(span.layer, span.name);
  CallFigures one;
  one.calls = 1;
  one.time_ns = duration_ns;
  one.self_time_ns = duration_ns - inside_ns;
  one.bytes = span.bytes;
  if (span.result) one.errors = *span.result < 0 ? 1 : 0;
  figures(span.thread, number, span.file) += one;
  CalledFunction& called = functions_[number];
  ++called.traced_calls;
  called.latency.add_call(duration_ns);
  const int64_t end_ns = end_of(span.start_ns, duration_ns);
  called.add_bytes(span.start_ns, end_ns, span.bytes, range);
  last_ns_ = std::max(last_ns_, end_ns);
}

Status CallSums::add(const Recording& recording, const CallRange& range) {
  const bool tables = recording.form() == Recording::Form::kTables;
  TRY(recording.read(tables ? tables_of<Counter>() : tables_of<Counter, Span>(),
                     [&](const Batch& batch) -> Status {
                       BatchCalls calls(batch, *this);
                       calls.add_counters(range);
                       calls.add_spans(range);
                       return {};
                     }));
  if (tables) TRY(add_span_tables(recording, range, *this));
  for (CalledFunction& called : functions_) called.bytes.settle();
  return {};
}

}  // namespace fathom
