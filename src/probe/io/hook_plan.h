// SPDX-License-Identifier: Apache-2.0
// Functions of the kernel and of libraries that the layers and a probe set ask for, and the ladder
// by which each is attached: fentry, then a tracepoint, then a kprobe; what works is found by
// trying. Plain values and pure functions, but for what an attacher does: one thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "probe/io/kernel_records.h"
#include "probe/io/kernel_types.h"
#include "probe/io/layers.h"
#include "probe/io/probe_set.h"

namespace fathom {

// Where one program goes.
struct HookSide {
  HookRung rung = HookRung::kNone;
  WireHookKind kind = kHookMoment;
  std::string where;    // a function, a tracepoint, or the file of a function
  KernelPlace place;    // in the kernel
  uint64_t offset = 0;  // in the file
};
// "fentry", "fexit", "tp_btf", "kprobe", "kretprobe", "uprobe", "uretprobe".
const char* side_name(const HookSide& side);
// About, each time it runs for a followed task.
int side_cost_ns(const HookSide& side);

// A function that is wanted.
struct HookWish {
  std::string layer, name;
  std::string function = {};               // of the kernel; empty: only by tracepoints
  std::vector<HookSide> tracepoints = {};  // that tell of it
  std::string file = {};                   // of a library; `offset` in it
  uint64_t offset = 0;
  std::vector<HookRung> by = {};       // only these rungs; empty: any
  std::vector<std::string> also = {};  // layers it would fit as well
};

struct HookOutcome {
  std::vector<HookSide> sides;  // empty: it cannot be had
  bool has_bytes = false, has_time = false;
  std::string why = {};  // of the best rung that failed
};

class HookAttacher {
 public:
  virtual ~HookAttacher() = default;
  // All of them or none.
  virtual Status attach(const std::vector<HookSide>& sides) = 0;
};

// Every function once, in the first layer that names it. `taken` are hooks of other programs.
// kInvalid where a pattern fits more than can be attached.
Result<std::vector<HookWish>> wish_hooks(const LayerChoice& layers,
                                         const std::vector<Capture>& captures,
                                         const KernelTypes& types, std::set<std::string> taken);

// Down the ladder until one is attached.
HookOutcome attach_best(const HookWish& wish, const KernelTypes& types, HookAttacher& attacher);

// Attaches programs that do nothing and takes them off again.
std::unique_ptr<HookAttacher> try_hooks();

}  // namespace fathom
