// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "launch/attach_launcher.h"
#include "launch/container/compose_launcher.h"
#include "launch/container/container_launcher.h"
#include "launch/launcher.h"
#include "launch/process_launcher.h"
#include "wire/hold.h"

namespace fathom {
namespace {

constexpr std::array kLaunchers = {
    LauncherInfo{"process", "a program with its children, in its own process group and cgroup",
                 launch_process},
    LauncherInfo{"container", "an image, in a container of a Docker or Podman engine",
                 launch_container},
    LauncherInfo{"compose", "the services of a compose file, each in a container", launch_compose},
    LauncherInfo{"attach-pid", "processes that run already, with their children", attach_pid},
    LauncherInfo{"attach-cgroup", "whoever is in a cgroup", attach_cgroup},
    LauncherInfo{"attach-container", "a container that runs already", attach_container},
    LauncherInfo{"attach-system", "the whole host", attach_system},
};

}  // namespace

std::span<const LauncherInfo> all_launchers() { return kLaunchers; }

// Containers have their own files: a folder there stands for ours.
std::string LaunchRequest::share(const std::string& path, bool writable) {
  if (!container) return path;
  for (const Share& known : shares)
    if (known.path == path) return known.inside;
  const size_t slash = path.rfind('/');
  shares.push_back({path,
                    fmt::format("{}/{}/{}", FATHOM_HOLD_FOLDER, shares.size(),
                                path.substr(slash == std::string::npos ? 0 : slash + 1)),
                    writable});
  return shares.back().inside;
}

Error of_command(Error error) {
  error.code = error.code == Code::kNotFound ? Code::kCommandNotFound : Code::kCommandNotExecutable;
  return error;
}

const LauncherInfo* find_launcher(std::string_view name) {
  for (const LauncherInfo& launcher : kLaunchers) {
    if (name == launcher.name) return &launcher;
  }
  return nullptr;
}

}  // namespace fathom
