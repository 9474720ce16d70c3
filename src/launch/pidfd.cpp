// SPDX-License-Identifier: Apache-2.0
#include "launch/pidfd.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/proc.h"

namespace fathom {
namespace {

// struct pidfd_info of linux/pidfd.h, which Debian 12 does not have yet.
struct PidfdInfo {
  uint64_t mask = 0, cgroup_id = 0;
  uint32_t pid = 0, tgid = 0, ppid = 0, ids[8] = {};
  int32_t exit_code = 0;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr uint64_t kInfoExit = 1 << 3;
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);

}  // namespace

Result<Fd> open_pidfd(int64_t pid) {
  Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  if (!pidfd.valid()) return errno_error("watch process " + std::to_string(pid));
  return pidfd;
}

bool pidfd_ended(int pidfd) {
  pollfd watched{pidfd, POLLIN, 0};
  return poll(&watched, 1, 0) > 0 && (watched.revents & POLLIN) != 0;
}

// First as a zombie; a parent that reaps it meanwhile leaves it to the descriptor.
std::optional<int> pidfd_end_status(int pidfd, int64_t pid) {
  const auto stat = read_proc_stat(proc_folder(pid));
  PidfdInfo info;
  info.mask = kInfoExit;
  if (ioctl(pidfd, kGetInfo, &info) == 0 && (info.mask & kInfoExit) != 0) return info.exit_code;
  if (stat.ok() && stat.value().state == 'Z' && stat.value().exit_code)
    return static_cast<int>(*stat.value().exit_code);
  return std::nullopt;
}

}  // namespace fathom
