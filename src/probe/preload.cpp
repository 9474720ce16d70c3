// SPDX-License-Identifier: Apache-2.0
#include "probe/preload.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/proc.h"

namespace fathom {
namespace {

// What the target would find under that name.
std::string value_of(const LaunchRequest& request, const std::string& name) {
  for (auto at = request.environment.rbegin(); at != request.environment.rend(); ++at)
    if (at->starts_with(name + "=")) return at->substr(name.size() + 1);
  if (request.container) return "";  // its launcher knows the image's
  const char* inherited = std::getenv(name.c_str());
  return inherited != nullptr ? inherited : "";
}

void append(LaunchRequest& request, const std::string& name, const std::string& value) {
  const std::string before = value_of(request, name);
  request.environment.push_back(name + "=" + (before.empty() ? "" : before + ":") + value);
}

}  // namespace

void add_preload(LaunchRequest& request, const std::string& library) {
  append(request, "LD_PRELOAD", request.share(library, false));
  add_seccomp_filters(request);
}

void add_seccomp_filters(LaunchRequest& request) {
  const std::string setting =
      fmt::format("FATHOM_FILTERS={}", read_seccomp_filters(proc_folder(getpid())));
  if (!request.container &&
      std::count(request.environment.begin(), request.environment.end(), setting) == 0)
    request.environment.push_back(setting);
}

}  // namespace fathom
