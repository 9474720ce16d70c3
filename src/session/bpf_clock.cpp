// SPDX-License-Identifier: Apache-2.0
#include "session/bpf_clock.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/bpf.h"

namespace fathom {

BpfClock::BpfClock()
    : BpfClock(Kernel{[](const std::vector<int>& programs) { return bpf_run_time_ns(programs); },
                      measure_bpf_time, is_bpf_time_measured}) {}

void BpfClock::begin(std::vector<int> programs, int64_t now_ns) {
  programs_ = std::move(programs);
  if (programs_.empty()) return;
  always_ = kernel_.is_measuring();
  open_window(now_ns);
  if (!always_ && !measuring_.valid()) programs_.clear();
}

void BpfClock::open_window(int64_t now_ns) {
  if (!always_) measuring_ = kernel_.measure();
  since_ns_ = now_ns;
  before_ns_ = kernel_.run_time_ns(programs_);
}

void BpfClock::close_window(int64_t now_ns) {
  const auto used = static_cast<double>(kernel_.run_time_ns(programs_) - before_ns_);
  sum_ns_ += used;
  rate_ = used / static_cast<double>(std::max<int64_t>(1, now_ns - since_ns_));
  sum_ns_ += std::exchange(pending_ns_, 0) * rate_;
  measuring_.reset();
  since_ns_ = now_ns;
}

void BpfClock::tick(int64_t now_ns) {
  if (programs_.empty() || always_) return;
  if (measuring_.valid()) return close_window(now_ns);
  if (++ticks_ % (kPeriod - 1) != 0) return;
  const auto between = static_cast<double>(now_ns - since_ns_);
  sum_ns_ += between * rate_ / 2;  // the other half is at the rate of the window that begins
  pending_ns_ = between / 2;
  open_window(now_ns);
}

std::optional<int64_t> BpfClock::finish(int64_t now_ns) {
  if (programs_.empty()) return std::nullopt;
  if (always_ || measuring_.valid())
    close_window(now_ns);
  else
    sum_ns_ += static_cast<double>(now_ns - since_ns_) * rate_;
  return std::llround(sum_ns_);
}

}  // namespace fathom
