// SPDX-License-Identifier: Apache-2.0
// What one batch adds to a job, whatever form it came in. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace fathom {

struct Contribution {
  std::vector<SumDelta> sums;  // a key may come more than once
  std::vector<std::pair<std::string, std::string>> units;
  std::vector<std::string> rows;
  std::vector<GaugeValue> gauges;
  std::vector<MarkText> marks;
  int64_t updates = 0;  // counters that were sent, before equal ones were added up

  // One long symbol with many events is many long keys: what a body makes is bounded, too.
  static constexpr size_t kMostKeyBytes = size_t{128} << 20;
  Status add_sum(std::string_view symbol, std::string_view program, std::string_view event,
                 int64_t delta);
  [[nodiscard]] size_t bytes() const;

 private:
  size_t key_bytes_ = 0;
};

constexpr size_t kMostSymbolBytes = 64 << 10;
constexpr size_t kMostNameBytes = 4096;  // of a program, event, unit, gauge, mark
constexpr size_t kMaxRowNames = 4096;    // counts of one benchmark row

// Why a sum cannot have this name, or nothing.
Status check_sum_name(std::string_view symbol, std::string_view program, std::string_view event);

// "main+0x1f" as "main", so that a function is one node.
std::string_view without_offset(std::string_view symbol);
// "/usr/bin/cc1" as "cc1".
std::string_view program_of(std::string_view path);

// A benchmark row as it is kept: the seed's fields, and beside them where it comes from.
struct RowOrigin {
  std::string run, host;
  int64_t time_ns = 0;  // since 1970
};
class RowBuilder {
 public:
  // Seconds, as a number or a text. Once.
  Status add_time(double seconds);
  Status add_count(std::string_view event, int64_t count);
  // Of a count, before or after it; cpu-clock and task-clock are ns by themselves.
  void add_unit(std::string_view event, std::string_view unit);
  [[nodiscard]] bool empty() const { return fields_.empty(); }
  [[nodiscard]] std::string json(const RowOrigin& origin) const;

 private:
  std::string fields_;
  std::vector<std::string> names_;  // in the order in which they were added
  std::unordered_set<std::string> known_;
  std::map<std::string, std::string, std::less<>> units_;
  bool timed_ = false;
};

// "2026-11-15T14:00:00.123Z".
std::string utc_text(int64_t time_ns);

}  // namespace fathom
