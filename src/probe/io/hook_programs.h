// SPDX-License-Identifier: Apache-2.0
// Programs on any function or tracepoint: copies of two of calls.bpf.c, each with constants of its
// own, loaded and attached one by one. Detached when this is gone. Belongs to the recorder's
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "probe/io/calls_skeleton.h"
#include "probe/io/hook_plan.h"

namespace fathom {

class HookPrograms final : public HookAttacher {
 public:
  // Once it is loaded.
  explicit HookPrograms(CallsSkeleton& skeleton)
      : skeleton_(skeleton),
        traced_types_(function_types(skeleton.progs.hook_traced)),
        registers_types_(function_types(skeleton.progs.hook_registers)) {}

  // Of which function the next ones are.
  void set_function(uint32_t function) { function_ = function; }
  Status attach(const std::vector<HookSide>& sides) override;

  void detach() { attached_.clear(); }
  // Times that a program did not run because it ran already.
  [[nodiscard]] int64_t missed() const;
  // Their descriptors.
  void add_programs(std::vector<int>& programs) const {
    for (const Fd& program : programs_) programs.push_back(program.get());
  }
  [[nodiscard]] size_t size() const { return programs_.size(); }

 private:
  Result<Fd> load(const HookSide& side);

  CallsSkeleton& skeleton_;
  FunctionTypes traced_types_, registers_types_;
  uint32_t function_ = 0;
  std::vector<Fd> programs_, constants_, attached_;
};

}  // namespace fathom
