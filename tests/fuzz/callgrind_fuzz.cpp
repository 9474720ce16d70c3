// SPDX-License-Identifier: Apache-2.0
// Feeds what a simulated target may have written in callgrind's place. Costs of functions are never
// negative where nothing wraps, and adding the file up must not crash.
#include "probe/simulate/simulated_sums.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file =
      fathom::parse_callgrind(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!file.ok()) return 0;
  for (const std::string& event : file.value().events) (void)file.value().total(event);
  fathom::SimulatedSums sums;
  sums.add(file.value());
  (void)sums.estimated_cycles();
  return 0;
}
