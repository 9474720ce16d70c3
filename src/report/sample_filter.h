// SPDX-License-Identifier: Apache-2.0
// Which samples a profile is made of: one event, and what the user asked for. Belongs to one
// thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "report/profile.h"

namespace fathom {

// The small tables of each source; empty ones for folded stacks.
using SourceTables = std::vector<std::unique_ptr<Collected>>;

// What to read at all. Samples stay apart where a process id was used twice, so that each finds its
// process.
SampleRange sample_range(const Collected& tables, const ProfileFilter& filter);

class SampleFilter {
 public:
  // kNotFound with a suggestion where the sources have no such event, process, thread or rate.
  static Result<SampleFilter> make(const ProfileFilter& filter, const SourceTables& tables,
                                   const SampleSums& sums);

  // Of any event.
  [[nodiscard]] bool passes(const SampleSum& sum, size_t source) const {
    return (rate_hz_ == 0 || sum.rate_hz == rate_hz_) && threads_[source][index_of(sum.thread)];
  }
  // Of the event, also of folded stacks that take the event of the others.
  [[nodiscard]] bool is_main(const SampleSum& sum) const {
    return sum.event == event_id_ || is_folded(sum);
  }
  // Folded stacks, which have no event, stand beside recordings and take their event.
  [[nodiscard]] bool joins_folded() const { return folded_id_ != StringId::kNone; }
  [[nodiscard]] bool is_folded(const SampleSum& sum) const {
    return joins_folded() && sum.event == folded_id_;
  }
  [[nodiscard]] const std::string& event() const { return event_; }
  [[nodiscard]] const std::vector<std::string>& other_events() const { return other_events_; }
  [[nodiscard]] Error nothing_passed() const;

 private:
  void join_folded(const std::string& wanted, const SampleSums& sums, size_t sources);
  Status choose_event(const std::string& wanted, const SampleSums& sums);
  Status choose_rate(const ProfileFilter& filter, const SampleSums& sums);
  Status choose_threads(const ProfileFilter& filter, const SourceTables& tables,
                        const SampleSums& sums);

  StringId event_id_{};
  StringId folded_id_{};  // none: folded stacks are of an event of their own
  std::string event_;
  std::vector<std::string> other_events_;
  uint32_t rate_hz_ = 0;                    // 0: any
  std::vector<std::vector<bool>> threads_;  // by source
};

}  // namespace fathom
