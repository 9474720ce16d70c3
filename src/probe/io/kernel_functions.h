// SPDX-License-Identifier: Apache-2.0
// Functions of the kernel that make layers, and the tracepoints that tell of them where programs on
// functions are not to be had. One line a function. Constants: any thread.
#pragma once

#include <span>

namespace fathom {

struct LayerHook {
  const char* layer;
  const char* function;
  const char* tracepoints;  // with spaces between; a pair is ENTER+LEAVE; empty: there are none
};

std::span<const LayerHook> layer_hooks();

}  // namespace fathom
