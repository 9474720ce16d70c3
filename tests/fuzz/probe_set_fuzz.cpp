// SPDX-License-Identifier: Apache-2.0
// Reads arbitrary text as a probe set. What is taken must have layers with names, and patterns that
// can be asked.
#include <cstdlib>

#include "probe/io/probe_set.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto set =
      fathom::parse_probe_set(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!set.ok()) return 0;
  for (const fathom::Capture& capture : set.value().captures) {
    if (capture.layer.empty()) std::abort();
    (void)capture.pattern.fits("vfs_read");
  }
  return 0;
}
