// SPDX-License-Identifier: Apache-2.0
// Measures the CPU time of the BPF programs of a run, which the kernel charges to the tasks that
// trigger them. To measure each run of a program costs about 70 ns, so the kernel does it during
// the first interval and one of every kPeriod later ones; the time in between is estimated from
// the rates of the intervals around it. Exact where kernel.bpf_stats_enabled is 1. Recorder thread
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/fd.h"

namespace fathom {

class BpfClock {
 public:
  static constexpr int64_t kPeriod = 16;

  // What it asks of the kernel.
  struct Kernel {
    std::function<int64_t(const std::vector<int>&)> run_time_ns;
    std::function<Fd()> measure;         // while the descriptor is open; invalid: it cannot
    std::function<bool()> is_measuring;  // always, for others
  };
  BpfClock();
  explicit BpfClock(Kernel kernel) : kernel_(std::move(kernel)) {}

  // `programs` are descriptors, open until finish().
  void begin(std::vector<int> programs, int64_t now_ns);
  void tick(int64_t now_ns);
  // The time since begin(); nullopt: there are no programs, or the kernel does not measure them.
  std::optional<int64_t> finish(int64_t now_ns);

 private:
  void open_window(int64_t now_ns);
  void close_window(int64_t now_ns);

  Kernel kernel_;
  std::vector<int> programs_;
  bool always_ = false;
  Fd measuring_;
  int64_t ticks_ = 0, since_ns_ = 0;  // of the window, or of the time between two
  int64_t before_ns_ = 0;             // run time as the window began
  double sum_ns_ = 0, rate_ = 0;      // `rate_` is that of the last window
  double pending_ns_ = 0;             // not measured, at the rate of the window that is open
};

}  // namespace fathom
