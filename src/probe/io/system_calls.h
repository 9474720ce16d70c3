// SPDX-License-Identifier: Apache-2.0
// The system calls that are I/O, and how the kernel half reads each: where its descriptor, its path
// and its offset stand, and whether it returns bytes. One line a call. Constants: any thread.
#pragma once

#include <span>
#include <string_view>

#include "wire/calls.h"

namespace fathom {

struct SystemCall {
  std::string_view name;  // the kernel's own
  long number;
  WireRule rule;
};

std::span<const SystemCall> system_calls();

}  // namespace fathom
