// SPDX-License-Identifier: Apache-2.0
// Builds of one program are one program. Where several runs are looked at together, a module goes
// by the name of its file wherever that lies. Where they are compared, what each run started has
// one name for all of them: "old|new" where they differ, unless a run has a process of another's
// name. Does not change once made: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/sample_filter.h"

namespace fathom {

class ProgramNames {
 public:
  ProgramNames(const SourceTables& tables, bool compared);

  // What the module is called among all runs.
  [[nodiscard]] std::string module(size_t source, std::string_view path) const;
  // The name of the process that the run began with, and what it is called among all; empty: as it
  // is.
  [[nodiscard]] const std::string& first_process(size_t source) const;
  [[nodiscard]] const std::string& shared_name() const { return shared_; }

 private:
  struct Program {
    std::string process, file;
  };
  [[nodiscard]] bool is_apart(const SourceTables& tables, size_t source) const;

  std::vector<Program> programs_;  // of each source
  std::string shared_;             // empty: each keeps its own
};

}  // namespace fathom
