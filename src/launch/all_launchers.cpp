// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "launch/attach_launcher.h"
#include "launch/launcher.h"
#include "launch/process_launcher.h"

namespace fathom {
namespace {

constexpr std::array kLaunchers = {
    LauncherInfo{"process", "a program with its children, in its own process group and cgroup",
                 launch_process},
    LauncherInfo{"attach-pid", "processes that run already, with their children", attach_pid},
    LauncherInfo{"attach-cgroup", "whoever is in a cgroup", attach_cgroup},
    LauncherInfo{"attach-system", "the whole host", attach_system},
};

}  // namespace

std::span<const LauncherInfo> all_launchers() { return kLaunchers; }

const LauncherInfo* find_launcher(std::string_view name) {
  for (const LauncherInfo& launcher : kLaunchers) {
    if (name == launcher.name) return &launcher;
  }
  return nullptr;
}

}  // namespace fathom
