// SPDX-License-Identifier: Apache-2.0
// A target that does nothing, for what only needs to have one.
#pragma once

#include <vector>

#include "launch/launcher.h"

namespace fathom {

class StillTarget : public Target {
 public:
  [[nodiscard]] int64_t pid() const override { return 1; }
  [[nodiscard]] const Cgroup* cgroup() const override { return nullptr; }
  Status go() override { return {}; }
  [[nodiscard]] int event_fd() const override { return -1; }
  std::vector<Departure> departures() override { return {}; }
  [[nodiscard]] bool lost() const override { return false; }
  void signal(int /*number*/) override {}
  void finish() override {}
};

}  // namespace fathom
