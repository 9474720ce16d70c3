// SPDX-License-Identifier: Apache-2.0
// Feeds the demangler: output is bounded, and no name takes long (libFuzzer's -timeout).
#include <cstdio>
#include <cstdlib>

#include "symbol/demangle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string name(reinterpret_cast<const char*>(data), size);
  const std::string text = fathom::demangle(name);
  if (text.size() > std::max(name.size(), fathom::kMaxDemangledBytes + 16)) std::abort();
  return 0;
}
