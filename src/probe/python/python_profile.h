// SPDX-License-Identifier: Apache-2.0
// What inject/python/fathom_profile.py writes of one process. Hostile input: what makes no sense is
// an error, sizes are bounded. Plain data: any thread.
#pragma once

#include <cstdint>
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
};

struct PythonProfile {
  int64_t pid = 0;
  uint64_t pid_namespace = 0;  // whose ids these are; 0: not known
  std::string program, version;
  bool sampled = false;
  double rate_hz = 0;
  int64_t looks = 0;
  std::vector<PythonThread> threads;
  std::vector<PythonStack> stacks;
};

Result<PythonProfile> parse_python_profile(std::string_view json);

}  // namespace fathom
