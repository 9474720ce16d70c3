// SPDX-License-Identifier: Apache-2.0
// The exact function profile of Python programs, thread by thread, as TAU has it: node, context and
// thread. Only counted calls are here; samples never are. Plain data: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/recording.h"

namespace fathom {

struct TauFunction {
  std::string name;  // "name [{file} {line}]", as TAU writes those of Python
  int64_t calls = 0, subroutines = 0, exclusive_ns = 0, inclusive_ns = 0;
};

struct TauThread {
  int64_t node = 0, thread = 0;  // in the order of process and thread ids, from 0
  int64_t pid = 0, tid = 0;
  std::vector<TauFunction> functions;  // by inclusive time, largest first
};

// kNotFound where no calls of Python were counted.
Result<std::vector<TauThread>> load_tau_profile(const Recording& recording);
// The text of the file profile.N.0.T.
std::string tau_file(const TauThread& thread);
// What TAU's pprof prints of it.
std::string tau_table(const TauThread& thread);

}  // namespace fathom
