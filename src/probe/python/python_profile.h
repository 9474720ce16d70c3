// SPDX-License-Identifier: Apache-2.0
// What inject/python/fathom_profile.py writes per process. Untrusted input: malformed text is an
// error, sizes are bounded. Plain data: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

struct PythonFunction {
  std::string name, file;
  int64_t line = 0;
  bool builtin = false;
  int64_t calls = 0, subroutines = 0, exclusive_ns = 0, inclusive_ns = 0;
};

struct PythonThread {
  int64_t tid = 0;
  std::string name;
  int64_t top_calls = 0, inclusive_ns = 0;
  std::vector<PythonFunction> functions;
};

struct PythonStack {
  int64_t tid = 0;
  std::vector<std::string> frames;  // the outermost first
  int64_t count = 0;
  int64_t time_ns = 0;  // what all of them represent
};

struct PythonProfile {
  int64_t pid = 0;
  uint64_t pid_namespace = 0;  // whose ids these are; 0: not known
  std::string program, version;
  bool sampled = false, wall_time = false;
  double rate_hz = 0;
  int64_t looks = 0;
  int64_t call_ns = 0;            // added to a call by the hook
  int64_t cost_ns = 0;            // all of the hook's time, estimated with call_ns
  int64_t cost_bytes = 0;         // resident memory of the hook
  std::optional<int64_t> cpu_ns;  // of a sampled process since the first look, without the sampler
  std::vector<PythonThread> threads;
  std::vector<PythonStack> stacks;
};

Result<PythonProfile> parse_python_profile(std::string_view json);

}  // namespace fathom
