// SPDX-License-Identifier: Apache-2.0
// Single lines of a .pfw file in one of its generations. Pure: belongs to whoever writes.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "record/records.h"

namespace fathom {

struct PfwCall {
  int64_t pid = 0, tid = 0;
  bool has_thread = false;
  std::string_view layer, name, file;
  int64_t at_ns = 0;  // since the start of the run
  int64_t count = 1;
  Maybe time_ns, bytes;
};

class PfwLines {
 public:
  PfwLines(int generation, std::string host) : generation_(generation), host_(std::move(host)) {}

  // What stands before all others, and after them.
  [[nodiscard]] std::string head() const;
  [[nodiscard]] std::string tail() const { return generation_ >= 3 ? "]\n" : ""; }
  // Calls of a slice; a single one. Also what must stand before it: the hash of a new file.
  std::string counter(const PfwCall& call);
  std::string call(const PfwCall& call);
  // A figure of the host.
  std::string gauge(std::string_view name, std::string_view unit, int64_t at_ns, double value);

 private:
  std::string start(const PfwCall& call, char phase);
  std::string file_line(std::string_view file);
  [[nodiscard]] std::string time(int64_t at_ns) const;
  [[nodiscard]] std::string more(const PfwCall& call) const;

  int generation_;
  std::string host_;
  std::set<std::string, std::less<>> files_;  // whose hash is written
  int64_t next_id_ = 0;
};

}  // namespace fathom
