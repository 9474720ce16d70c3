// SPDX-License-Identifier: Apache-2.0
// Facts about this machine that do not change while we look. Any thread.
#pragma once

#include <cstdint>
#include <string>

namespace fathom {

struct HostFacts {
  std::string name, kernel, cpu_model, virtualization, user;
  int64_t cores = 0;
  int64_t memory_bytes = 0;
};

HostFacts host_facts();

}  // namespace fathom
