// SPDX-License-Identifier: Apache-2.0
// From a raw sample to a stack with names: unwinds the copy, joins what was cut, and names each
// frame once. Fathom's own code at the innermost end becomes one frame [fathom]; its wrappers
// around functions of the target are left out. Follows what tasks map and start, so it must be told
// of all changes in their order. Belongs to the recorder's thread, with the interner it writes
// into.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "probe/own_code.h"
#include "probe/raw_sample.h"
#include "probe/stack_cache.h"
#include "symbol/symbolizer.h"
#include "symbol/unwind_cache.h"
#include "symbol/unwind_join.h"
#include "symbol/unwind_process.h"

namespace fathom {

// How far the user part of a stack was followed.
enum class StackEnd : uint8_t {
  kComplete,  // to the thread's first function; also where there is no user part
  kJoined,    // cut, and completed from the thread's last complete stack
  kCut,
  kNotInRam,
  k32Bit,
  kElsewhere,
  kNoTable,
  kBadRule,
  kBadFrame,
  kTooDeep,
  kLost,  // not a stack: what samples stood for that were lost at the end
  kCount
};
const char* stack_end_name(StackEnd end);
// Where tables are kept from one run to the next; empty: nowhere.
std::string stack_cache_folder();

struct BuiltStack {
  StackId stack{};
  StackEnd end = StackEnd::kComplete;
  uint64_t needed_bytes = 0;  // of stack, to follow it to its end or as far as is known
};

class StackBuilder {
 public:
  // Unwind tables and the kernel's names are kept below `cache_folder`, unless it is empty. With
  // `lines`, user code has files, lines and frames of inlined functions.
  StackBuilder(Interner& names, const std::string& cache_folder, bool lines = false);

  BuiltStack build(const RawSample& sample);
  // What a record says of a stack that ended so; none, where it is complete.
  DetailId detail_of(StackEnd end);
  // Whether an address of the kernel is of what tracing itself calls.
  bool is_of_tracing(uint64_t address);
  void change(const TaskChange& change);
  // A process that was there before: reads what it has mapped.
  void attach(int64_t pid, int64_t time_ns);
  // The interner was emptied.
  void forget_ids();

  [[nodiscard]] int64_t ended(StackEnd end) const { return ended_[static_cast<size_t>(end)]; }
  [[nodiscard]] const Symbolizer& symbolizer() const { return symbolizer_; }
  [[nodiscard]] size_t memory_bytes() const;

 private:
  // The user part of a thread's last stack, outermost first.
  struct LastStack {
    struct Step {
      uint64_t address = 0;
      StackId stack{};
      bool is_own = false;  // then the stack is the caller's
    };
    uint32_t space = 0;
    std::vector<Step> steps;
  };

  StackEnd follow(const RawSample& sample);
  bool is_between_programs(const RawSample& sample);
  bool ends_process(const TaskChange& exit);
  void end_process(int64_t pid, int64_t time_ns);
  LastStack::Step step(StackId parent, uint64_t address, uint32_t space, const RawSample& sample);
  // The stack, and whether it ends in Fathom's own code, whatever that calls in the kernel.
  std::pair<StackId, bool> add_user_frames(const RawSample& sample);
  [[nodiscard]] bool is_own_library(FrameId frame) const;
  [[nodiscard]] size_t own_at(const LastStack& last) const;
  StackId add_kernel_frames(StackId stack, std::span<const uint64_t> addresses);
  std::span<const uint64_t> without_own(std::span<const uint64_t> addresses);
  StackId add_own_frame(StackId stack);
  KernelCode kernel_code(uint64_t address);

  Interner& names_;
  Symbolizer symbolizer_;
  UnwindCache tables_;
  ProcessUnwindModules modules_;
  Unwinder unwinder_;
  StackJoiner joiner_;
  UnwoundStack unwound_;
  StackCache cache_;
  std::unordered_map<int64_t, LastStack> last_stacks_;  // by tid
  struct Process {
    int64_t other_threads = 0;
    bool first_is_gone = false;
  };
  std::unordered_map<int64_t, Process> processes_;  // by pid, of those seen to start threads
  std::unordered_set<int64_t> starting_;  // pids that exec'ed and were not seen in their code yet
  std::array<int64_t, static_cast<size_t>(StackEnd::kCount)> ended_{};
  std::array<DetailId, static_cast<size_t>(StackEnd::kCount)> details_{};
  OwnCode own_code_;
  std::unordered_map<uint64_t, KernelCode> kernel_codes_;  // by address
};

}  // namespace fathom
