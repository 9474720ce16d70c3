// SPDX-License-Identifier: Apache-2.0
// The skeleton of calls.bpf.c, opened, loaded and attached, for kernel_calls.cpp.  One owner, one
// thread.
#pragma once

#include <cstdint>

#include "wire/calls.h"

#include "calls.skel.h"

namespace fathom {

using CallsSkeleton = calls_bpf;

inline CallsSkeleton* open_calls() { return calls_bpf__open(); }
inline int load_calls(CallsSkeleton* skeleton) { return calls_bpf__load(skeleton); }
inline int attach_calls(CallsSkeleton* skeleton) { return calls_bpf__attach(skeleton); }
inline void close_calls(CallsSkeleton* skeleton) { calls_bpf__destroy(skeleton); }
// All but what gathers from idle tasks.
void detach_calls(CallsSkeleton* skeleton);
// Times that a program did not run because it ran already.
int64_t calls_missed(const CallsSkeleton* skeleton);

}  // namespace fathom
