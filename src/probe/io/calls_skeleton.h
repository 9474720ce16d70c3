// SPDX-License-Identifier: Apache-2.0
// The skeleton of calls.bpf.c, opened, loaded and attached, for kernel_calls.cpp.  One owner, one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/calls.h"

#include "calls.skel.h"

namespace fathom {

using CallsSkeleton = calls_bpf;

// Types of the functions of a program, as the kernel was given them when it was loaded.
struct FunctionTypes {
  uint32_t types_fd = 0;  // the skeleton's
  uint32_t record_bytes = 0;
  uint32_t count = 0;
  std::vector<std::byte> records;
};

CallsSkeleton* open_calls();
int load_calls(CallsSkeleton* skeleton);
inline int attach_calls(CallsSkeleton* skeleton) { return calls_bpf__attach(skeleton); }
void close_calls(CallsSkeleton* skeleton);
// Of hook_traced or hook_registers, once loaded.
FunctionTypes function_types(const bpf_program* program);
// All but what gathers from idle tasks.
void detach_calls(CallsSkeleton* skeleton);
// Descriptors of the programs that were loaded.
std::vector<int> calls_programs(const CallsSkeleton* skeleton);
// Times that a program did not run because it ran already.
int64_t calls_missed(const CallsSkeleton* skeleton);

}  // namespace fathom
