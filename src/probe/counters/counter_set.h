// SPDX-License-Identifier: Apache-2.0
// The events of one run, opened for whom the scope says: per CPU for a cgroup or the host, per
// thread for a tree (what threads start is counted with them), per thread and CPU where each
// thread's own figures are wanted. What cannot be opened keeps the reason. Belongs to the
// recorder's thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "probe/counters/event_list.h"
#include "probe/sampled_scope.h"

namespace fathom {

// As the kernel has them, descriptors added up.
struct EventReading {
  int64_t value = 0, enabled_ns = 0, running_ns = 0;

  // What the value would be had it been counted all the time; 0 where it never was.
  [[nodiscard]] int64_t scaled() const;
  // 1: all the time. Of what was never to be counted, too.
  [[nodiscard]] double share() const;
};

struct CounterEvent {
  std::string name;  // ":u" behind it where the kernel could not be counted
  const char* unit = "count";
  std::string why;             // why it is not counted, or not all of it
  std::vector<Fd> fds;         // empty: it is not counted
  std::vector<size_t> places;  // of each descriptor: which one of the scope's
  std::vector<int> cpus;       // and its CPU
  bool user_only = false;
  bool shares = false;  // a counter of the CPU, which others may want, too
};

struct CounterSetOptions {
  bool enable_on_exec = false;  // of a started target that waits before exec
  bool per_cpu = false;         // of a tree: events that may have rings
};

class CounterSet {
 public:
  // Never fails as a whole: events say why they are not counted.
  static CounterSet open(const std::vector<EventRequest>& requests, const SampledScope& scope,
                         const CounterSetOptions& options);

  void enable() const;
  [[nodiscard]] EventReading read(const CounterEvent& event) const;
  // A sum over CPUs, its times made right: a thread's time is seen by the event of every CPU.
  [[nodiscard]] EventReading whole(const CounterEvent& event, EventReading sum) const;
  [[nodiscard]] const std::vector<CounterEvent>& events() const { return events_; }
  // How many events count, each once.
  [[nodiscard]] size_t counted() const;

 private:
  std::vector<CounterEvent> events_;
  int64_t seen_times_ = 1;  // the time of one thread
};

// Reads value, enabled, running; nothing of an event that is gone.
EventReading read_event(int fd);
// What all counting events ask for.
perf_event_attr counting_attr(const PerfEventName& what);

}  // namespace fathom
