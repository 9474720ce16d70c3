// SPDX-License-Identifier: Apache-2.0
// The calls of a recording added up: counters and spans alike become one sum per thread, function
// and file, and per function the latencies and the bytes over time, so that a report costs what the
// distinct keys cost and not what the rows do. Self time of spans is computed from those inside
// them, apart for the C library and for all other layers. A journal is added up frame by frame,
// tables chunk by chunk. Owned and used by one thread.
#pragma once

#include <functional>
#include <vector>

#include "record/byte_series.h"
#include "record/id_index.h"
#include "record/latency_counts.h"
#include "record/nested_time.h"
#include "record/recording.h"

namespace fathom {

struct CallRange {
  int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;     // monotonic; from <= start (of a slice) < to
  int64_t origin_ns = 0, last_ns = INT64_MAX;         // where bytes over time begin and end
  std::function<bool(const ThreadKey&)> wanted = {};  // empty: all threads; asked once for each
};

// What calls add up to; absent: no row says.
struct CallFigures {
  int64_t calls = 0;
  Maybe time_ns, self_time_ns, bytes, errors;

  CallFigures& operator+=(const CallFigures& other);
};

struct CallKey {
  ThreadId thread{};
  uint32_t function = 0;  // place in CallSums::functions
  StringId file{};
  bool operator==(const CallKey&) const = default;
};

struct CalledFunction {
  StringId layer{}, name{};
  int64_t traced_calls = 0;  // each of them a span
  LatencyCounts latency = {};
  ByteSeries bytes = {};

  // Bytes that were moved in that time, as far as it is of the range.
  void add_bytes(int64_t from_ns, int64_t to_ns, const Maybe& moved, const CallRange& range);
};

class CallSums {
 public:
  struct Sum {
    CallKey key;
    CallFigures figures;
  };

  Status add(const Recording& recording, const CallRange& range = {});

  [[nodiscard]] const Dictionary& names() const { return names_.dictionary(); }
  [[nodiscard]] std::string_view text(StringId id) const { return names_.text(id); }
  // Element 0 is none.
  [[nodiscard]] const std::vector<CalledFunction>& functions() const { return functions_; }
  [[nodiscard]] std::vector<Sum> sums() const;
  // The end of the last slice or call, the longest slice that is known.
  [[nodiscard]] int64_t last_ns() const { return last_ns_; }
  [[nodiscard]] int64_t slice_ns() const { return slice_ns_; }

  // For the readers: rows with ids of interner(). Spans of a thread come as they end.
  Interner& interner() { return names_; }
  void add_counter(const Counter& counter, std::span<const int64_t> latency,
                   const CallRange& range);
  void add_span(const Span& span, const CallRange& range);

 private:
  struct HashOf {
    size_t operator()(const CallKey& key) const;
  };
  bool wanted(ThreadId thread, const CallRange& range);
  uint32_t function(StringId layer, StringId name);
  CallFigures& figures(ThreadId thread, uint32_t function, StringId file);

  Interner names_;
  std::vector<CalledFunction> functions_{{}};
  PairIndex function_index_;
  std::vector<CallKey> keys_{{}};
  std::vector<CallFigures> figures_{{}};  // of each key
  IdIndex key_index_;
  // The library in the target cannot know the system calls within its calls where it sums them, so
  // self time excludes calls of layer c from layer c only, whether calls are summed or traced.
  NestedTime nested_, nested_libc_;
  std::vector<int8_t> wanted_;  // by thread; -1: not asked yet
  int64_t last_ns_ = INT64_MIN, slice_ns_ = 0;
};

// The spans of a folder of tables, in the order that add_span needs.
Status add_span_tables(const Recording& recording, const CallRange& range, CallSums& sums);

}  // namespace fathom
