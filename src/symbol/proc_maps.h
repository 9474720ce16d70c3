// SPDX-License-Identifier: Apache-2.0
// /proc/PID/maps, the code in it. A pure parser and one that reads. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

struct ProcMap {
  uint64_t start = 0, end = 0, offset = 0;
  uint64_t device = 0;  // as makedev(3) writes it
  uint64_t inode = 0;
  bool executable = false;
  std::string path;  // empty: anonymous; "[vdso]"; without " (deleted)"
};

// Lines that make no sense are left out. Only what may be executed, unless told otherwise.
std::vector<ProcMap> parse_proc_maps(std::string_view text, bool all = false);
Result<std::vector<ProcMap>> read_proc_maps(int64_t pid);

}  // namespace fathom
