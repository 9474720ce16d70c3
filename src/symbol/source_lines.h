// SPDX-License-Identifier: Apache-2.0
// Lines of source code for the addresses of all modules: a process for each file that has debug
// information (line_process.h), as many as kMost at once. Files without it cost nothing. Belongs to
// one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "symbol/line_process.h"
#include "symbol/module.h"

namespace fathom {

class SourceLines {
 public:
  static constexpr size_t kMost = 32;

  // Outermost first; empty where nothing is known.
  std::vector<SourceFrame> find(const Module& module, uint64_t address);

  // Files whose debug information could not be read to the end.
  [[nodiscard]] int64_t given_up() const { return given_up_; }

 private:
  struct Entry {
    std::unique_ptr<LineProcess> process;
    bool useless = false;
    uint64_t used = 0;
  };
  LineProcess* process_of(const Module& module, Entry& entry);
  void end_oldest();

  std::unordered_map<uint32_t, Entry> entries_;  // by module id
  size_t running_ = 0;
  uint64_t clock_ = 0;
  int64_t given_up_ = 0;
};

}  // namespace fathom
