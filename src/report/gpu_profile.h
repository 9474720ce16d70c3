// SPDX-License-Identifier: Apache-2.0
// What a program did with GPUs, of the driver calls of a recording: kernels, copies by direction,
// waits, the time between launches, memory. Times are the host's: how long calls took. Plain data,
// made in one pass by one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/latency_counts.h"
#include "record/recording.h"

namespace fathom {

struct GpuCalls {
  int64_t calls = 0, errors = 0, time_ns = 0, longest_ns = 0, bytes = 0;
  int64_t untimed = 0;       // of the calls: they were only counted
  bool has_results = false;  // whether calls failed is known
};

struct GpuCopies {
  GpuCalls all;
  int64_t waited_bytes = 0, waited_ns = 0;  // of those that return when they are done
};

struct GpuMemory {
  std::optional<double> peak_bytes = {};  // absent: only the last value is known
  double last_bytes = 0;
  int64_t last_ns = INT64_MIN;
};

template <class Figures>
struct Named {
  std::string name;
  Figures figures;
};

struct GpuProfile {
  std::string command, damage;
  int64_t duration_ns = 0;
  GpuCalls total, launches, waits;
  LatencyCounts gaps;  // between the end of a launch and the start of the thread's next
  std::vector<Named<GpuCalls>> kernels, functions;            // by calls, by time
  std::map<std::string, LatencyCounts, std::less<>> latency;  // of functions that were timed
  std::vector<Named<GpuCopies>> copies;                       // by bytes
  std::map<std::string, GpuMemory> memory;                    // by GPU and process
  std::vector<Named<GpuCalls>> on_device;  // kernels, copies and sets, by time there
  GpuCalls leaks;
  std::vector<Named<GpuCalls>> leaked_by;  // stacks that allocated them, by bytes
  bool has_probe = false;
  bool imported = false;  // from a log, which may leave out whole functions
  int64_t dropped = 0;
  std::string why;
};

bool is_launch(std::string_view function);
bool is_wait(std::string_view function);
bool is_copy(std::string_view function);

// kNotFound where no driver call was recorded.
Result<GpuProfile> load_gpu_profile(const Recording& recording);

}  // namespace fathom
