// SPDX-License-Identifier: Apache-2.0
#include "probe/counters/thread_counts.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "base/proc.h"
#include "base/proc_system.h"

namespace fathom {
namespace {

constexpr size_t kRingBytes = size_t{512} << 10;
constexpr size_t kLeastRingBytes = size_t{32} << 10;

// PERF_RECORD_READ as counting_attr() asks for it.
struct ReadRecord {
  perf_event_header header;
  uint32_t pid, tid;
  uint64_t value, enabled_ns, running_ns, id;
  // The trailer of every record.
  uint32_t trailer_pid, trailer_tid;
  uint64_t time_ns;
};
struct ExitRecord {
  perf_event_header header;
  uint32_t pid, parent, tid, parent_tid;
};
struct LostRecord {
  perf_event_header header;
  uint64_t id, lost;
};

void add(EventReading& sum, const EventReading& more) {
  sum.value += more.value;
  sum.enabled_ns += more.enabled_ns;
  sum.running_ns += more.running_ns;
}

int64_t process_of(int64_t tid) {
  constexpr std::string_view kKey = "Tgid:";
  const auto status = read_file(proc_folder(tid) + "/status");
  if (!status.ok()) return tid;
  const size_t at = status.value().find(kKey);
  return at == std::string::npos ? tid : std::atoll(status.value().c_str() + at + kKey.size());
}

perf_event_attr nothing_attr() {
  PerfEventName dummy;
  dummy.attr.type = PERF_TYPE_SOFTWARE;
  dummy.attr.config = PERF_COUNT_SW_DUMMY;
  perf_event_attr attr = counting_attr(dummy);
  attr.exclude_kernel = 1;
  return attr;
}

// Owns the ring of one CPU; counts nothing, but tells that threads end.
perf_event_attr ring_attr() {
  perf_event_attr attr = nothing_attr();
  attr.inherit = 1;
  attr.task = 1;
  attr.watermark = 1;
  return attr;
}

}  // namespace

Result<std::unique_ptr<ThreadCounts>> ThreadCounts::open(const CounterSet& set,
                                                         const SampledScope& scope) {
  std::unique_ptr<ThreadCounts> counts(new ThreadCounts(set));
  const std::vector<PerfPlace> places = scope.places();
  for (const PerfPlace& place : places) {
    counts->opened_for_.emplace_back(process_of(place.pid), place.pid);
    // Threads that have the same events may swap them at a switch, and a thread that ends with the
    // first one's is not told of. One event that is not inherited makes the first one different.
    if (auto pin = open_perf_event(nothing_attr(), place.pid, -1); pin.ok())
      counts->pins_.push_back(std::move(pin).value());
  }
  TRY_ASSIGN(const std::vector<int> cpus, online_cpus());
  for (const int cpu : cpus) {
    TRY_ASSIGN(Fd event, open_perf_event(ring_attr(), places.front().pid, cpu));
    TRY_ASSIGN(PerfRing ring, PerfRing::map(event.get(), kRingBytes, kLeastRingBytes));
    counts->rings_.push_back({cpu, std::move(event), std::move(ring)});
  }
  TRY(counts->redirect_all());
  return counts;
}

Status ThreadCounts::redirect_all() {
  for (size_t i = 0; i < set_.events().size(); ++i) {
    const CounterEvent& event = set_.events()[i];
    for (size_t n = 0; n < event.fds.size(); ++n) {
      const int fd = event.fds[n].get();
      uint64_t id = 0;
      if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0) return errno_error("ask for an event's id");
      for (const Ring& ring : rings_) {
        if (ring.cpu == event.cpus[n] &&
            ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring.event.get()) != 0)
          return errno_error("share a ring of counts");
      }
      opened_[id] = {fd, event.places[n], i, {}};
    }
  }
  return {};
}

std::vector<int> ThreadCounts::wake_fds() const {
  std::vector<int> fds;
  for (const Ring& ring : rings_) fds.push_back(ring.event.get());
  return fds;
}

int64_t ThreadCounts::mapped_bytes() const {
  int64_t bytes = 0;
  for (const Ring& ring : rings_) bytes += static_cast<int64_t>(ring.ring.mapped_bytes());
  return bytes;
}

void ThreadCounts::drain(const Take& take) {
  for (Ring& ring : rings_) {
    ring.ring.begin();
    while (const perf_event_header* header = ring.ring.next()) on_record(*header, take);
    ring.ring.end();
  }
}

void ThreadCounts::on_record(const perf_event_header& header, const Take& take) {
  if (header.type == PERF_RECORD_READ && header.size >= sizeof(ReadRecord)) on_read(header, take);
  if (header.type == PERF_RECORD_EXIT && header.size >= sizeof(ExitRecord)) on_exit(header);
  if (header.type == PERF_RECORD_LOST && header.size >= sizeof(LostRecord))
    lost_ += static_cast<int64_t>(reinterpret_cast<const LostRecord&>(header).lost);
}

// Those that events were opened for are never told of.
void ThreadCounts::on_exit(const perf_event_header& header) {
  const int64_t tid = reinterpret_cast<const ExitRecord&>(header).tid;
  const bool opened = std::any_of(opened_for_.begin(), opened_for_.end(),
                                  [tid](const auto& thread) { return thread.second == tid; });
  if (!opened) ++exits_;
}

void ThreadCounts::on_read(const perf_event_header& header, const Take& take) {
  const auto& record = reinterpret_cast<const ReadRecord&>(header);
  const auto known = opened_.find(record.id);
  if (known == opened_.end()) return;  // a ring's own event
  ++told_records_;
  const EventReading reading{static_cast<int64_t>(record.value),
                             static_cast<int64_t>(record.enabled_ns),
                             static_cast<int64_t>(record.running_ns)};
  add(known->second.told, reading);
  Pending& pending = pending_[{record.pid, record.tid}];
  pending.count.pid = record.pid;
  pending.count.tid = record.tid;
  pending.count.end_ns = static_cast<int64_t>(record.time_ns);
  pending.count.readings.resize(set_.events().size());
  add(pending.count.readings[known->second.event], reading);
  if (++pending.records < set_.counted() * rings_.size()) return;
  take(finished(std::move(pending.count)));
  pending_.erase({record.pid, record.tid});
}

ThreadCount ThreadCounts::finished(ThreadCount count) const {
  for (size_t i = 0; i < count.readings.size(); ++i)
    count.readings[i] = set_.whole(set_.events()[i], count.readings[i]);
  return count;
}

// What is left of each event's sum.
void ThreadCounts::add_rest(int64_t now_ns, const Take& take) const {
  std::vector<ThreadCount> rests(opened_for_.size());
  for (size_t place = 0; place < rests.size(); ++place) {
    std::tie(rests[place].pid, rests[place].tid) = opened_for_[place];
    rests[place].end_ns = now_ns;
    rests[place].readings.resize(set_.events().size());
  }
  for (const auto& [id, opened] : opened_) {
    const EventReading all = read_event(opened.fd);
    const EventReading& told = opened.told;
    add(rests[opened.place].readings[opened.event],
        {all.value - told.value, all.enabled_ns - told.enabled_ns,
         all.running_ns - told.running_ns});
  }
  for (ThreadCount& rest : rests) take(finished(std::move(rest)));
}

void ThreadCounts::finish(int64_t now_ns, const Take& take) {
  drain(take);
  for (auto& [key, pending] : pending_) take(finished(std::move(pending.count)));
  pending_.clear();
  add_rest(now_ns, take);
}

}  // namespace fathom
