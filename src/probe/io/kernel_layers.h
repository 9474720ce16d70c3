// SPDX-License-Identifier: Apache-2.0
// Which programs of calls.bpf.c make which layer, where they are attached, and what their numbers
// of functions mean. One line a program, one line a function. Constants: any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probe/io/kernel_records.h"
#include "probe/io/layers.h"

namespace fathom {

struct KernelProgram {
  const char* program;  // as calls.bpf.c names it
  const char* layer;    // empty: whatever is seen needs it
  const char* hook;     // a tracepoint, or a function of the kernel
  bool by_function;     // fentry and fexit, not a tracepoint
  int cost_ns;          // about, each time it runs for a followed task
};

std::span<const KernelProgram> kernel_programs();

// All numbers of functions below system calls; others stay empty.
void name_layer_functions(std::vector<KernelFunction>& functions);

// Whether this kernel lets a program onto a hook; the reason where not.
struct HookState {
  bool can = true;
  std::string why;
};
HookState try_hook(const KernelProgram& program);

// What would be attached where, and what it would cost, as a table for people.
std::string kernel_plan(const LayerChoice& layers);

}  // namespace fathom
