// SPDX-License-Identifier: Apache-2.0
// Whose the samples of one recording are: names of processes and threads, host, rank. Lives no
// longer than the tables it was made of, and does not change: any thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/recording.h"

namespace fathom {

class SampleOwners {
 public:
  // `tables` holds runs, processes and threads.
  explicit SampleOwners(const Collected& tables);

  // Whether no two processes had that pid.
  [[nodiscard]] bool once(int64_t pid) const {
    const auto found = lives_.find(pid);
    return found == lives_.end() || found->second.size() == 1;
  }
  // From now on, processes of this name have that one.
  void rename(std::string process, std::string name) {
    renamed_ = {std::move(process), std::move(name)};
  }
  // The process that had the pid at the time; "pid 7" where none is known.
  [[nodiscard]] std::string process(int64_t pid, int64_t time_ns) const;
  [[nodiscard]] std::string thread(const ThreadKey& key) const;  // "tid 7"
  [[nodiscard]] std::string host(int64_t pid, int64_t time_ns) const;
  [[nodiscard]] std::string rank(int64_t pid, int64_t time_ns) const;

 private:
  [[nodiscard]] const Process* find(int64_t pid, int64_t time_ns) const;

  const Collected& tables_;
  std::pair<std::string, std::string> renamed_;
  std::unordered_map<int64_t, std::vector<const Process*>> lives_;  // by pid, by their start
  std::unordered_map<int64_t, const Thread*> threads_;              // by tid
};

}  // namespace fathom
