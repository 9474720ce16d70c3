// SPDX-License-Identifier: Apache-2.0
// Which samples a profile is made of: one event, and what the user asked for. Belongs to one
// thread.
#pragma once

#include <string>
#include <vector>

#include "report/profile.h"

namespace fathom {

// What to read at all. Samples stay apart where a process id was used twice, so that each finds its
// process.
SampleRange sample_range(const Collected& tables, const ProfileFilter& filter);

class SampleFilter {
 public:
  // kInvalid with a suggestion where the recording has no such event, process or thread.
  static Result<SampleFilter> make(const ProfileFilter& filter, const Collected& tables,
                                   const SampleSums& sums);

  bool operator()(const SampleSum& sum) const {
    return sum.event == event_id_ && threads_[index_of(sum.thread)];
  }
  [[nodiscard]] const std::string& event() const { return event_; }
  [[nodiscard]] const std::vector<std::string>& other_events() const { return other_events_; }
  [[nodiscard]] Error nothing_passed() const;

 private:
  Status choose_event(const std::string& wanted, const SampleSums& sums);
  Status choose_threads(const ProfileFilter& filter, const Collected& tables,
                        const SampleSums& sums);

  StringId event_id_{};
  std::string event_;
  std::vector<std::string> other_events_;
  std::vector<bool> threads_;
};

}  // namespace fathom
