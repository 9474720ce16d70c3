// SPDX-License-Identifier: Apache-2.0
// What stands at an address, at a time: ranges that a later one covers keep their parts that stay
// visible, and what was covered is remembered for samples from before. Events come in the order of
// time. Used for mappings, compiled code and perf maps. Belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

namespace fathom {

template <class Value>
class TimedRanges {
 public:
  struct Range {
    uint64_t start = 0, end = 0;
    int64_t from_ns = 0, to_ns = INT64_MAX;
    Value value{};
  };

  explicit TimedRanges(size_t most_past = 4096) : most_past_(most_past) {}

  // From `time_ns` on, [start, end) is this. Returns whether it covers something.
  bool set(uint64_t start, uint64_t end, Value value, int64_t time_ns) {
    if (start >= end) return false;
    const bool covers = clear(start, end, time_ns);
    now_.emplace(start, Range{start, end, time_ns, INT64_MAX, std::move(value)});
    return covers;
  }

  // From `time_ns` on, nothing is there. Returns whether something was.
  bool clear(uint64_t start, uint64_t end, int64_t time_ns) {
    bool covers = false;
    auto at = now_.upper_bound(start);
    if (at != now_.begin()) --at;
    while (at != now_.end() && at->second.start < end) {
      if (at->second.end <= start) {
        ++at;
        continue;
      }
      Range covered = std::move(at->second);
      at = now_.erase(at);
      if (covered.start < start) now_.emplace(covered.start, part(covered, covered.start, start));
      if (covered.end > end) at = now_.emplace(end, part(covered, end, covered.end)).first;
      remember(std::move(covered), time_ns);
      covers = true;
    }
    return covers;
  }

  void clear_all(int64_t time_ns) {
    for (auto& [start, range] : now_) remember(std::move(range), time_ns);
    now_.clear();
  }

  // Null where nothing was. Valid until the next change.
  [[nodiscard]] const Range* find(uint64_t address, int64_t time_ns = INT64_MAX) const {
    auto at = now_.upper_bound(address);
    if (at != now_.begin()) {
      --at;
      const Range& range = at->second;
      if (address < range.end && range.from_ns <= time_ns) return &range;
    }
    // Newest first: what ended before the time asked for cannot have been there.
    for (auto past = past_.rbegin(); past != past_.rend() && past->to_ns > time_ns; ++past)
      if (address >= past->start && address < past->end && past->from_ns <= time_ns) return &*past;
    return nullptr;
  }

  [[nodiscard]] const std::map<uint64_t, Range>& current() const { return now_; }
  [[nodiscard]] size_t size() const { return now_.size(); }
  [[nodiscard]] size_t past_size() const { return past_.size(); }
  // What is there now, without what was.
  [[nodiscard]] TimedRanges copy_current() const {
    TimedRanges copy(most_past_);
    copy.now_ = now_;
    return copy;
  }

 private:
  static Range part(const Range& whole, uint64_t start, uint64_t end) {
    Range piece = whole;
    piece.start = start;
    piece.end = end;
    return piece;
  }

  void remember(Range range, int64_t time_ns) {
    if (most_past_ == 0 || time_ns <= range.from_ns) return;
    range.to_ns = time_ns;
    past_.push_back(std::move(range));
    if (past_.size() > most_past_) past_.pop_front();
  }

  std::map<uint64_t, Range> now_;  // by start; none overlap
  std::deque<Range> past_;         // by the time they ended
  size_t most_past_;
};

}  // namespace fathom
