// SPDX-License-Identifier: Apache-2.0
// The threads that --process and --thread choose, by name or id. It remembers the names of those it
// was asked about, to say which there are when none is meant. Belongs to one thread, and lives no
// longer than the tables it was made of.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "record/recording.h"
#include "report/profile_filter.h"

namespace fathom {

// "no sample is of a process ccc", with what it may have meant.
Error nothing_of(std::string_view rows, std::string_view what, const std::string& wanted,
                 const std::set<std::string>& known);

class ThreadFilter {
 public:
  // `tables` holds processes and threads.
  ThreadFilter(const ProfileFilter& filter, const Collected& tables);

  // All pass.
  [[nodiscard]] bool open() const { return process_.empty() && thread_.empty(); }
  bool passes(const ThreadKey& key);
  // kNotFound with a suggestion where none has passed. `rows`: what threads have, "sample".
  [[nodiscard]] Status found(std::string_view rows) const;

 private:
  // A name, or several that it had one after the other.
  using Names = std::multimap<int64_t, std::string_view>;

  std::string process_, thread_;
  Names processes_, threads_;
  std::set<std::string> known_processes_, known_threads_;
  bool process_found_ = false, thread_found_ = false;
};

}  // namespace fathom
