// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/cpu_split.h"

#include <cstdlib>

namespace fathom {
namespace {

// Cgroup version 2 counts whole microseconds, for each of its parts.
constexpr int64_t kCgroupRoundingNs = 20'000;

}  // namespace

// The kernel splits the time of a cgroup by ticks, and that of processes by theirs.
void split_as_processes(int64_t total_ns, const TaskUsage& told, Run& run) {
  const int64_t user_ns = told.user_ns.value_or(0), system_ns = told.system_ns.value_or(0);
  if (user_ns + system_ns <= 0 || total_ns <= 0) return;
  if (std::abs(total_ns - user_ns - system_ns) <= kCgroupRoundingNs) {
    run.user_ns = user_ns;
    run.system_ns = system_ns;
    return;
  }
  const double share = static_cast<double>(user_ns) / static_cast<double>(user_ns + system_ns);
  run.user_ns = static_cast<int64_t>(static_cast<double>(total_ns) * share);
  run.system_ns = total_ns - *run.user_ns;
}

}  // namespace fathom
