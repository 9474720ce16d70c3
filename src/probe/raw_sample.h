// SPDX-License-Identifier: Apache-2.0
// A thread's registers and a copy of its stack at some moment, not yet unwound, and what its
// processes map, fork, exec and exit meanwhile, for whoever listens to both in one order of time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "symbol/module_cache.h"
#include "symbol/unwinder.h"

namespace fathom {

struct RawSample {
  enum class User : uint8_t {
    kNone,      // in the kernel, of a kernel thread or a process that is ending
    kCopied,    // registers and copy are there
    k32Bit,     // of a 32-bit program: not copied
    kNotInRam,  // copied up to a part that is not in memory
  };
  int64_t time_ns = 0, cpu = 0;
  int64_t pid = 0, tid = 0;            // -1: not known, of a task that has all but ended
  int64_t weight = 0;                  // in the event's unit
  uint32_t sampler = 0;                // which of them it is of
  std::span<const uint64_t> kernel{};  // innermost first
  User user = User::kNone;
  UnwindRegisters registers;
  StackCopy copy;  // nothing of it outlives the call
};

struct TaskChange {
  enum class Kind : uint8_t { kMap, kFork, kName, kExec, kExit };
  Kind kind = Kind::kMap;
  int64_t time_ns = 0, pid = 0, tid = 0;
  int64_t parent = 0;     // kFork: the parent's pid
  std::string_view name;  // kName, kExec: of the thread
  MapEvent map;           // kMap
};

class SampleListener {
 public:
  virtual ~SampleListener() = default;
  virtual void on_sample(const RawSample& sample) = 0;
  virtual void on_change(const TaskChange& change) = 0;
};

}  // namespace fathom
