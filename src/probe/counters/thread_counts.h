// SPDX-License-Identifier: Apache-2.0
// The figures of single threads: the kernel writes what each event counted for a thread into a ring
// when the thread ends (inherit_stat). What is then left of an event's sum is of the threads it was
// opened for, so that threads add up to the run exactly. Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/perf_event.h"
#include "probe/counters/counter_set.h"

namespace fathom {

struct ThreadCount {
  int64_t pid = 0, tid = 0;
  int64_t end_ns = 0;
  std::vector<EventReading> readings;  // in the order of the set's events
};

class ThreadCounts {
 public:
  using Take = std::function<void(const ThreadCount&)>;

  // Rings for a set that was opened per CPU. `set` must outlive it.
  static Result<std::unique_ptr<ThreadCounts>> open(const CounterSet& set,
                                                    const SampledScope& scope);

  [[nodiscard]] std::vector<int> wake_fds() const;
  // Gives the threads that have ended.
  void drain(const Take& take);
  // The same, and then all others: those that still run, as far as they were counted.
  void finish(int64_t now_ns, const Take& take);

  [[nodiscard]] int64_t lost() const { return lost_; }
  [[nodiscard]] int64_t mapped_bytes() const;
  // Threads end, and the kernel says nothing of them: some versions have that fault.
  [[nodiscard]] bool silent() const { return exits_ > 0 && told_records_ == 0; }

 private:
  explicit ThreadCounts(const CounterSet& set) : set_(set) {}
  Status redirect_all();
  void on_record(const perf_event_header& header, const Take& take);
  void on_exit(const perf_event_header& header);
  void on_read(const perf_event_header& header, const Take& take);
  [[nodiscard]] ThreadCount finished(ThreadCount count) const;
  void add_rest(int64_t now_ns, const Take& take) const;

  struct Ring {
    int cpu;
    Fd event;
    PerfRing ring;
  };
  struct Opened {
    int fd = -1;
    size_t place = 0, event = 0;
    EventReading told;  // of threads that ended
  };
  struct Pending {
    ThreadCount count;
    size_t records = 0;
  };
  const CounterSet& set_;
  std::vector<Ring> rings_;
  std::vector<Fd> pins_;
  std::vector<std::pair<int64_t, int64_t>> opened_for_;     // pid and tid by place
  std::unordered_map<uint64_t, Opened> opened_;             // by the kernel's id
  std::map<std::pair<int64_t, int64_t>, Pending> pending_;  // by pid and tid
  int64_t lost_ = 0, exits_ = 0, told_records_ = 0;
};

}  // namespace fathom
