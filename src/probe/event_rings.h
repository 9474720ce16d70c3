// SPDX-License-Identifier: Apache-2.0
// One perf ring per CPU for what tasks do (map, fork, exec, exit), into which sampling events may
// write, too. The event that owns a ring counts nothing and is always on, so that no mapping is
// missed while others are switched. Belongs to one thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/perf_event.h"
#include "probe/raw_sample.h"
#include "probe/sampled_scope.h"

namespace fathom {

// Common to all events of a ring; every record other than a sample ends with these fields.
constexpr uint64_t kCommonSampleType =
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
// For a ring that holds only what tasks do: enough for a second of thousands of short processes,
// in which the recorder may not get to run. All CPUs' rings together stay within a bound.
size_t changes_ring_bytes();
// Of one CPU's ring, where all together should have so many.
size_t ring_bytes_of(size_t all, size_t least, size_t most);
constexpr size_t kLeastChangesRingBytes = size_t{16} << 10;
// What our events have in common.
perf_event_attr common_attr();

class EventRings {
 public:
  // `data_bytes` a ring, all halved down to `least_bytes` where the user may not lock so much.
  static Result<EventRings> open(const SampledScope& scope, size_t data_bytes, size_t least_bytes);

  struct Ring {
    int cpu = 0;
    std::vector<Fd> events;  // the first owns the ring
    PerfRing ring;
  };
  [[nodiscard]] std::vector<Ring>& rings() { return rings_; }
  // Lets a sampling event of the same CPU write into the ring.
  static Status redirect(int event_fd, const Ring& ring);

  // Samples of this event are of that sampler.
  void add_event(int event_fd, uint32_t sampler);
  [[nodiscard]] uint32_t sampler_of(const perf_event_header& sample) const;

  // Gives a record that is no sample to the listener, or counts it.
  void take(const perf_event_header& header, SampleListener& listener);

  [[nodiscard]] std::vector<int> wake_fds() const;
  [[nodiscard]] int64_t lost() const { return lost_; }
  [[nodiscard]] int64_t throttled() const { return throttled_; }
  [[nodiscard]] int64_t mapped_bytes() const;

 private:
  std::vector<Ring> rings_;
  std::unordered_map<uint64_t, uint32_t>
      samplers_;  // by the kernel's number of the event; not the first
  int64_t lost_ = 0, throttled_ = 0;
};

// When a record was made. Works for every record of such a ring.
int64_t record_time_ns(const perf_event_header& header);

// What waits in a ring of whichever kind, for merging.
class TimedStream {
 public:
  virtual ~TimedStream() = default;
  virtual void begin() = 0;
  virtual int64_t next_ns() = 0;  // INT64_MAX: nothing
  virtual void deliver(SampleListener& listener) = 0;
  virtual void end() = 0;
};
// What a CPU's ring holds of what tasks do.
class ChangeStream : public TimedStream {
 public:
  ChangeStream(EventRings& rings, EventRings::Ring& ring) : rings_(rings), ring_(ring.ring) {}

  void begin() override { ring_.begin(); }
  void end() override { ring_.end(); }
  int64_t next_ns() override {
    const perf_event_header* header = ring_.peek();
    return header == nullptr ? INT64_MAX : record_time_ns(*header);
  }
  void deliver(SampleListener& listener) override {
    rings_.take(*ring_.peek(), listener);
    ring_.pop();
  }

 protected:
  EventRings& rings_;
  PerfRing& ring_;
};
// Delivers what is older than `until_ns`, in order of time.
void merge_streams(std::span<TimedStream* const> streams, SampleListener& listener,
                   int64_t until_ns);

}  // namespace fathom
