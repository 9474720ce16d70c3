// SPDX-License-Identifier: Apache-2.0
// What the calls of a recording say about its I/O: sums per function, file and thread, and bytes
// over time, for every format that shows them. Totals, files and threads are those of one layer,
// since what passes through several would count once in each: system calls where they were
// recorded, else the C library, else the layer nearest to the program. Once built it does not
// change: any thread may read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/saturate.h"
#include "record/call_sums.h"
#include "report/call_sites.h"
#include "report/io_class.h"
#include "report/profile_filter.h"

namespace fathom {

// Calls of all kinds.
struct IoFigures {
  int64_t calls = 0, reads = 0, writes = 0, opens = 0;
  Maybe errors;  // absent: no call says
  int64_t read_bytes = 0, written_bytes = 0;
  Maybe io_ns;          // own time, waiting left out; absent: no call was timed
  int64_t wait_ns = 0;  // in poll, wait4 and such

  [[nodiscard]] int64_t bytes() const {
    int64_t sum = read_bytes;
    add_saturating(sum, written_bytes);
    return sum;
  }
};

struct IoFunction {
  std::string_view layer, name;
  IoClass io_class = IoClass::kOther;
  CallFigures figures;
  const LatencyCounts* latency = nullptr;

  // The own time; the whole where that is not known.
  [[nodiscard]] Maybe self_ns() const {
    return figures.self_time_ns ? figures.self_time_ns : figures.time_ns;
  }
};

struct IoFile {
  std::string_view name;
  IoFigures figures;
};

// A process, or a thread of one.
struct IoPart {
  int64_t pid = 0, tid = 0;
  std::string name;  // empty: not known
  int64_t threads = 0;
  IoFigures figures;
};

// What is known of the probe that recorded it.
struct IoCoverage {
  int64_t dropped = 0;
  std::string why;      // what is not covered
  bool stacks = false;  // calls have them
  bool traced = false;  // calls have spans, except those that a filter excludes
  std::string filters;  // "min-duration 1 ms"; empty: all calls have their details
};

struct IoProfile {
  std::string command;                   // as recorded
  int64_t duration_ns = 0;               // of the run, or of what was chosen of it
  int64_t from_ns = 0;                   // since the start of the run
  std::string_view layer;                // whose figures the totals are
  std::vector<std::string_view> layers;  // all, the nearest to the program first
  IoFigures total;
  int64_t traced_calls = 0;                // of the total; without a filter all, or none
  std::vector<IoFunction> functions;       // by layer, then by own time, largest first
  std::vector<IoFile> files;               // by bytes, then by time
  std::vector<IoPart> processes, threads;  // by time
  std::vector<CallSite> sites;             // of calls that have a stack, by time
  std::vector<std::string> silent;         // names of processes without a recorded call
  ByteSeries read, written;                // since from_ns
  int64_t slice_ns = 0;                    // bytes are known no finer; 0: by call
  std::optional<IoCoverage> coverage;
  std::string damage;

  std::unique_ptr<CallSums> owner;  // of names and latencies
};

// The functions that wait_ns of the total was spent in, most first: "poll, wait4", "poll, …".
std::string waited_in(const IoProfile& profile);

// What the recording's filters removed, by line; empty: there were none.
std::vector<std::string> filter_lines(const IoProfile& profile);

// kNotFound where the recording holds no calls of I/O, or none passes the filter.
Result<IoProfile> load_io_profile(const Recording& recording, const ProfileFilter& filter);

}  // namespace fathom
