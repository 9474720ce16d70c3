// SPDX-License-Identifier: Apache-2.0
// Recognizes Fathom's own code in stacks of a target: libraries loaded into it, and BPF programs of
// this recorder with the kernel's code that calls them. Programs of other tools are not its own.
// Recorder thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

namespace fathom {

enum class KernelCode : uint8_t {
  kOther,
  kTracepoint,      // what calls the programs of a tracepoint
  kBpf,             // helper functions and trampolines of programs
  kOwnProgram,      // a BPF program of this recorder
  kForeignProgram,  // of another tool
};

class OwnCode {
 public:
  // Whether a file is one of the libraries that are loaded into targets.
  static bool is_library(std::string_view path);
  // By the name of a function of the kernel.
  KernelCode kernel_code(std::string_view symbol);
  // Whether this process holds BPF programs.
  bool has_programs();

 private:
  void read_tags();

  std::unordered_set<std::string> tags_;  // of the programs that this process holds
  bool read_ = false;
};

}  // namespace fathom
