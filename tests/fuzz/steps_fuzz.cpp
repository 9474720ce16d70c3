// SPDX-License-Identifier: Apache-2.0
// Reads arbitrary text as the steps to run in a container. Steps that are accepted can be executed.
#include <cstdio>
#include <cstdlib>

#include "launch/container/instructions.h"

namespace fathom {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "steps_fuzz: %s\n", what);
  std::abort();
}

void check(std::string_view text) {
  const auto read = parse_steps(text, "fuzz.yaml", "/nonexistent");
  if (!read.ok()) {
    require(!read.error().message.empty(), "an error without a message");
    return;
  }
  for (const ContainerStep& step : read.value().steps) {
    require(!step.name.empty(), "a step without a name");
    require(step.repeat > 0, "a step that is not executed");
    require(step.time_limit_ns >= 0, "a negative time limit");
    for (const std::string& setting : step.settings)
      require(setting.find('=') != std::string::npos, "a variable without a value");
  }
  for (const ContainerMount& mount : read.value().mounts)
    require(mount.target.starts_with('/'), "a mount at a relative path");
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fathom::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
