// SPDX-License-Identifier: Apache-2.0
// Which programs of calls.bpf.c make which layer, where they are attached, and what their numbers
// of functions mean. One line a program, one line a function. Constants: any thread.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probe/io/kernel_records.h"
#include "probe/io/kernel_types.h"
#include "probe/io/layers.h"

namespace fathom {

struct KernelProgram {
  const char* program;               // as calls.bpf.c names it
  const char* layer;                 // empty: whatever is seen needs it
  const char* hook;                  // a tracepoint
  int cost_ns;                       // about, each time it runs for a followed task
  const char* instead_of = nullptr;  // another that is better, where the kernel has it
};

std::span<const KernelProgram> kernel_programs();

// All numbers of functions below system calls; others stay empty.
void name_layer_functions(std::vector<KernelFunction>& functions);

// Whether the types of the kernel decide what is attached: every kernel has what system calls need.
bool needs_types(const LayerChoice& layers, const std::vector<Capture>& captures);

// Those of these layers; of two that stand for each other the better one that this kernel has.
// `types` may be nullptr if none are needed.
std::vector<const KernelProgram*> wanted_programs(const LayerChoice& layers,
                                                  const KernelTypes* types);
// Why this kernel does not have the tracepoint; empty: it has.
std::string why_no_hook(const KernelProgram& program, const KernelTypes* types);

// Tracepoints of the programs of these layers.
std::set<std::string> hooks_of(const LayerChoice& layers);

// What would be attached where, by which rung and about at what cost, as a table for people.
Result<std::string> kernel_plan(const LayerChoice& layers, const std::vector<Capture>& captures);

}  // namespace fathom
