// SPDX-License-Identifier: Apache-2.0
// What a program needs, derived from what it used over time: for requests, limits and the machine
// it is to run on. Values that were not measured are absent. Plain data: any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/sizing_memory.h"
#include "report/summary.h"

namespace fathom {

// Where the bytes of disks were counted.
enum class DiskSource {
  kNone,
  kCgroup,     // requests to devices, as charged to the cgroup
  kProcesses,  // process accounting: pages fetched, and pages made dirty
};

struct SizingFigures {
  std::optional<double> mean_cores, p95_cores, peak_cores;
  int64_t cpu_intervals = 0, cpu_interval_ns = 0;  // that p95 and peak are of
  // Memory that the kernel cannot take back (sizing_memory.h).
  std::optional<double> peak_memory_bytes;
  std::optional<double> peak_with_cache_bytes;  // exact, by the kernel
  MemoryNeed memory;
  // Bytes in the busiest second.
  std::optional<double> disk_read, disk_written, net_received, net_sent;
  DiskSource disk_read_source = DiskSource::kNone, disk_written_source = DiskSource::kNone;
  std::optional<double> read_calls, write_calls;  // also from caches
  std::optional<double> gpu_share, gpu_memory_bytes;
  std::optional<double> throttled_share;  // of the periods of the CPU limit
  double periods = 0, throttled_periods = 0;
  std::optional<double> throttled_ns;
  std::optional<double> waited_share;  // of the time it could run: for a core, throttled or not
  double oom_kills = 0, peak_swap_bytes = 0;
  std::optional<double> limit_cores, limit_memory_bytes;
};

// Absent: CPU or memory was not measured.
struct SizingAdvice {
  std::optional<double> request_cores, limit_cores;
  std::optional<double> request_bytes, limit_bytes;
  int gpus = 0;
};

struct NodeDescription {
  std::string name;
  std::optional<double> cores, memory_bytes, gpus, gpu_memory_bytes, disk_bytes_per_s;
};

struct NodeFit {
  enum class Verdict { kFits, kDoesNotFit, kUnknown };  // unknown: something was not measured
  std::string name;
  Verdict verdict = Verdict::kFits;
  std::vector<std::string> reasons;  // what is insufficient; else the shares that are used
};

struct ContainerSizing {
  std::string name;
  SizingFigures figures;
  SizingAdvice advice;
  std::vector<std::string> warnings;
};

struct Sizing {
  SizingFigures figures;
  SizingAdvice advice;
  std::vector<std::string> warnings;
  std::vector<ContainerSizing> containers;  // of several in one run, by name
};

Result<Sizing> work_out_sizing(const Recording& recording, const Summary& summary);
// --limit's text, as the run kept it: cpus=0.5,memory=1073741824
void read_kept_limits(std::string_view text, SizingFigures& figures);
SizingAdvice advise(const SizingFigures& figures);
// How requests and limits follow from what is needed.
std::string request_rule();
std::string limit_rule(const SizingFigures& figures);
// A rate of an interval as cores. The kernel brings CPU time up to date at timer interrupts, so
// that an interval may have more or less of it: a value barely above a whole number is that number.
double whole_cores(double cores, double interval_ns);
std::vector<std::string> sizing_warnings(const SizingFigures& figures, int64_t duration_ns);

// nodes: [{name: edge, cpus: 4, memory: 8g, gpus: 1, gpu_memory: 8g, disk: 100m}]
Result<std::vector<NodeDescription>> load_nodes(const std::string& path);
// Compares the requests (what is needed, with its margin) and the busiest second of the disk.
NodeFit check_fit(const NodeDescription& node, const SizingFigures& figures,
                  const SizingAdvice& advice);

// The value that so large a share of them does not pass; values are sorted here.
double quantile(std::vector<double> values, double share);

}  // namespace fathom
