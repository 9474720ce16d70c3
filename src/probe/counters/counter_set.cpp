// SPDX-License-Identifier: Apache-2.0
#include "probe/counters/counter_set.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <map>

#include "base/file_limit.h"
#include "base/proc_system.h"
#include "probe/counters/refusal.h"

namespace fathom {
namespace {

// Where one descriptor of an event goes.
struct Slot {
  size_t place;
  PerfPlace at;
  int cpu;
};

class Opener {
 public:
  Opener(const SampledScope& scope, const CounterSetOptions& options)
      : options_(options), tree_(scope.is_tree()) {
    std::vector<int> cpus = {-1};
    if (!tree_ || options.per_cpu) cpus = online_cpus().value_or({0});
    const std::vector<PerfPlace> places = scope.places();
    for (size_t i = 0; i < places.size(); ++i)
      for (const int cpu : cpus) slots_.push_back({i, places[i], cpu});
  }

  CounterEvent open(const EventRequest& request) {
    CounterEvent event;
    event.name = request.name;
    event.why = request.why;
    if (!event.why.empty()) return event;
    event.unit = request.what.unit;
    event.shares = is_hardware(request.what);
    event.why = senseless(request.what);
    if (!event.why.empty()) return event;
    perf_event_attr attr = counting_attr(request.what);
    Status opened = open_all(attr, request, event);
    if (!opened.ok() && opened.error().code == Code::kPermission && attr.exclude_kernel == 0 &&
        attr.exclude_user == 0 && !kernel_only(request.what)) {
      attr.exclude_kernel = 1;
      opened = open_all(attr, request, event);
      event.user_only = opened.ok() && !is_clock(request.what);
    }
    if (!opened.ok()) event.why = refusal(request.what, opened.error());
    if (event.user_only) {
      event.name += ":u";
      event.why = "user mode only (sysctl kernel.perf_event_paranoid=1 lets it see the kernel)";
    }
    return event;
  }

 private:
  // Threads that ended meanwhile are left out. Where the last of many threads get no event, the
  // others keep theirs; any other error leaves nothing open.
  Status open_all(const perf_event_attr& attr, const EventRequest& request, CounterEvent& event) {
    std::vector<int> leaders = leaders_of(request.group);
    Error last{Code::kNotFound, "its threads have ended"};
    bool whole = true;
    for (size_t i = 0; i < slots_.size(); ++i) {
      auto fd = open_one(attr, slots_[i], leaders[i], event);
      if (fd.ok()) {
        if (leaders[i] < 0) leaders[i] = fd.value().get();
        event.fds.push_back(std::move(fd).value());
        event.places.push_back(slots_[i].place);
        event.cpus.push_back(slots_[i].cpu);
        continue;
      }
      last = std::move(fd).error();
      if (tree_ && last.code == Code::kNotFound) continue;  // ESRCH
      keep_before(slots_[i].place, event);
      if (event.fds.empty()) return last;
      whole = false;  // and others of its group are counted by themselves
      event.why = fmt::format("counted for {} of {} threads: {}", slots_[i].place,
                              slots_.back().place + 1, last.message);
      break;
    }
    if (event.fds.empty()) return last;
    if (request.group >= 0 && whole) leaders_[request.group] = std::move(leaders);
    return {};
  }

  // A thread that is not counted on all CPUs is not counted, nor is a CPU on which not all is.
  void keep_before(size_t place, CounterEvent& event) const {
    while (!event.fds.empty() && (!tree_ || event.places.back() == place)) {
      event.fds.pop_back();
      event.places.pop_back();
      event.cpus.pop_back();
    }
  }

  Result<Fd> open_one(perf_event_attr attr, const Slot& slot, int leader, CounterEvent& event) {
    attr.inherit = tree_ ? 1 : 0;
    attr.inherit_stat = tree_ && slot.cpu >= 0 ? 1 : 0;
    const auto open = [&](int group_fd) {
      const bool leads = group_fd < 0;  // a member is on when its leader is
      attr.disabled = uint64_t{leads} & 1U;
      attr.enable_on_exec = uint64_t{leads && options_.enable_on_exec} & 1U;
      return open_perf_event(attr, slot.at.pid, slot.cpu, slot.at.flags, group_fd);
    };
    auto fd = open(leader);
    if (fd.ok() || leader < 0 || fd.error().code == Code::kPermission) return fd;
    auto alone = open(-1);
    if (!alone.ok()) return fd;
    event.why = "counted by itself: its group has more events than the CPU has counters";
    return alone;
  }

  std::vector<int> leaders_of(int group) {
    const auto known = leaders_.find(group);
    return group < 0 || known == leaders_.end() ? std::vector<int>(slots_.size(), -1)
                                                : known->second;
  }

  CounterSetOptions options_;
  bool tree_;
  std::vector<Slot> slots_;
  std::map<int, std::vector<int>> leaders_;  // by group: a descriptor for each slot
};

}  // namespace

perf_event_attr counting_attr(const PerfEventName& what) {
  perf_event_attr attr = what.attr;
  attr.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
  attr.sample_id_all = 1;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.exclude_guest = 1;
  return attr;
}

int64_t EventReading::scaled() const {
  if (running_ns <= 0) return value;
  if (running_ns >= enabled_ns) return value;
  return std::llround(static_cast<double>(value) * static_cast<double>(enabled_ns) /
                      static_cast<double>(running_ns));
}

double EventReading::share() const {
  if (enabled_ns <= 0 || running_ns >= enabled_ns) return 1;
  return static_cast<double>(running_ns) / static_cast<double>(enabled_ns);
}

EventReading read_event(int fd) {
  struct {
    uint64_t value, enabled_ns, running_ns, id;
  } raw{};
  EventReading reading;
  if (::read(fd, &raw, sizeof raw) != sizeof raw) return reading;
  reading.value = static_cast<int64_t>(raw.value);
  reading.enabled_ns = static_cast<int64_t>(raw.enabled_ns);
  reading.running_ns = static_cast<int64_t>(raw.running_ns);
  return reading;
}

CounterSet CounterSet::open(const std::vector<EventRequest>& requests, const SampledScope& scope,
                            const CounterSetOptions& options) {
  raise_file_limit();  // one per event and thread or CPU
  CounterSet set;
  Opener opener(scope, options);
  for (const EventRequest& request : requests) set.events_.push_back(opener.open(request));
  if (scope.is_tree() && options.per_cpu)
    set.seen_times_ = static_cast<int64_t>(online_cpus().value_or({0}).size());
  return set;
}

void CounterSet::enable() const {
  for (const CounterEvent& event : events_)
    for (const Fd& fd : event.fds) ioctl(fd.get(), PERF_EVENT_IOC_ENABLE, 0);
}

EventReading CounterSet::read(const CounterEvent& event) const {
  EventReading sum;
  for (const Fd& fd : event.fds) {
    const EventReading one = read_event(fd.get());
    sum.value += one.value;
    sum.enabled_ns += one.enabled_ns;
    sum.running_ns += one.running_ns;
  }
  return whole(event, sum);
}

EventReading CounterSet::whole(const CounterEvent& event, EventReading sum) const {
  if (seen_times_ == 1) return sum;
  sum.enabled_ns = event.shares ? sum.enabled_ns / seen_times_ : sum.running_ns;
  return sum;
}

size_t CounterSet::counted() const {
  size_t count = 0;
  for (const CounterEvent& event : events_) count += event.fds.empty() ? 0 : 1;
  return count;
}

}  // namespace fathom
