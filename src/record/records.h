// SPDX-License-Identifier: Apache-2.0
// The record kinds: plain structs, one per table. What each field means, its unit and its place on
// the wire stand in schema.h. A field that may not have been measured is a Maybe; 0 means that 0
// was measured. Times are CLOCK_MONOTONIC nanoseconds. Plain data: any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <tuple>

#include "record/ids.h"

namespace fathom {

using Maybe = std::optional<int64_t>;

// A range of Rows::buckets: bucket i counts values in [2^i, 2^(i+1)), bucket 0 also the value 0.
struct Histogram {
  uint32_t offset = 0;
  uint32_t length = 0;
  bool operator==(const Histogram&) const = default;
};

struct Run {
  StringId id{}, label{}, job{}, experiment{}, cell{};
  Maybe repetition;
  StringId host{}, kernel{}, cpu_model{};
  Maybe cores, memory_bytes;
  StringId virtualization{};
  StringId user{}, command{}, cwd{}, launcher{}, image_digest{}, dataset_hash{}, limits{};
  int64_t start_ns = 0, real_offset_ns = 0;
  Maybe hub_offset_ns, end_ns, exit_status, exit_signal;
  StringId end_reason{};
  Maybe interval_ns;
  Maybe user_ns, system_ns, peak_rss_bytes, cgroup_peak_bytes, processes, threads, left_running;
  Maybe recorder_cpu_ns, recorder_rss_bytes, recorder_buffer_bytes, records, dropped;
  StringId version{};
  Maybe wait_ns, minor_faults, major_faults, read_chars, written_chars, disk_read_bytes,
      disk_written_bytes;
  Maybe voluntary_switches, involuntary_switches;
  StringId damage{};
  Maybe recorder_bpf_ns;

  [[nodiscard]] auto key() const { return std::tuple(id); }
};

struct ProbeStatus {
  StringId probe{}, rung{}, settings{};
  int64_t seen = 0, dropped = 0;
  StringId why{};
  Maybe cpu_ns, memory_bytes;

  [[nodiscard]] auto key() const { return std::tuple(probe); }
};

struct Process {
  int64_t pid = 0;
  Maybe ppid;
  StringId name{}, exe{}, args{}, container{}, host{};
  Maybe mpi_rank;
  int64_t start_ns = 0;
  Maybe end_ns, exit_status, exit_signal;
  Maybe user_ns, system_ns, wait_ns, peak_rss_bytes, minor_faults, major_faults;
  Maybe read_chars, written_chars, disk_read_bytes, disk_written_bytes;
  Maybe voluntary_switches, involuntary_switches;
  StringId accounting{};
  Maybe cpu_ns;

  [[nodiscard]] auto key() const { return std::tuple(pid, start_ns); }
};

struct Thread {
  int64_t pid = 0, tid = 0;
  StringId name{};
  int64_t start_ns = 0;
  Maybe end_ns, user_ns, system_ns, cpu_ns;

  [[nodiscard]] auto key() const { return std::tuple(pid, tid, start_ns); }
};

struct Sample {
  int64_t time_ns = 0;
  ThreadId thread{};
  Maybe cpu;
  StringId event{};
  int64_t rate_hz = 0;
  StackId stack{};
  int64_t weight = 1;
  StringId state{}, reason{};
  DetailId detail{};
};

struct Counter {
  int64_t slice_ns = 0, slice_length_ns = 0;
  ThreadId thread{};
  StringId layer{}, name{}, file{};
  int64_t count = 0;
  Maybe time_ns, self_time_ns, bytes, errors;
  Histogram latency;
  DetailId detail{};
};

struct Span {
  int64_t start_ns = 0, duration_ns = 0;
  ThreadId thread{};
  StringId layer{}, name{};
  Maybe bytes;
  StringId file{};
  Maybe result;
  StackId stack{};
  Maybe correlation;
  DetailId detail{};
  Maybe offset_bytes;
};

struct Gauge {
  int64_t time_ns = 0;
  StringId scope{}, name{}, unit{};
  double value = 0;
};

struct NodeSum {
  StringId symbol{}, module{}, program{}, event{}, unit{};
  int64_t sum = 0;
};

struct Row {
  StringId job{};
  int64_t index = 0;
  DetailId values{};
};

struct Mark {
  int64_t time_ns = 0;
  StringId text{};
};

struct EventCount {
  StringId name{}, unit{}, source{};
  Maybe count, enabled_ns, running_ns;
  StringId why{};

  [[nodiscard]] auto key() const { return std::tuple(source, name); }
};

struct Step {
  StringId name{}, command{};
  int64_t repetition = 0, start_ns = 0;
  Maybe end_ns, exit_status, exit_signal, timed_out;
  Maybe user_ns, system_ns, throttled_ns, peak_bytes;
  Maybe read_chars, written_chars, disk_read_bytes, disk_written_bytes;
};

}  // namespace fathom
