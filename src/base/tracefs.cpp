// SPDX-License-Identifier: Apache-2.0
#include "base/tracefs.h"

#include <fmt/format.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"

namespace fathom {
namespace {

constexpr long kTracefsMagic = 0x74726163;

struct Tracefs {
  std::string root;
  Error missing{};  // where there is no root
};

bool is_tracefs(const char* folder) {
  struct statfs status {};
  return statfs(folder, &status) == 0 && status.f_type == kTracefsMagic;
}

int call(long number, long a, long b = 0, long c = 0, long d = 0, long e = 0) {
  return static_cast<int>(syscall(number, a, b, c, d, e));
}

Tracefs find_tracefs() {
  for (const char* folder : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
    if (is_tracefs(folder)) return {folder, {}};
  static Fd mount;  // until the process ends
  const Fd context(call(SYS_fsopen, reinterpret_cast<long>("tracefs"), FSOPEN_CLOEXEC));
  if (context.valid() && call(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE) == 0)
    mount = Fd(call(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC,
                    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC));
  const int failed = errno;
  if (mount.valid()) return {fmt::format("/proc/self/fd/{}", mount.get()), {}};
  if (geteuid() != 0) return {{}, {Code::kPermission, "tracepoints are for root", "sudo"}};
  return {{},
          {Code::kUnsupported,
           fmt::format("tracefs is not mounted, and cannot be mounted privately: {}",
                       std::strerror(failed)),
           "mount -t tracefs tracefs /sys/kernel/tracing"}};
}

}  // namespace

Result<std::string> read_tracefs(const std::string& file, size_t max_bytes) {
  static const Tracefs kTracefs = find_tracefs();
  if (kTracefs.root.empty()) return kTracefs.missing;
  return read_file(kTracefs.root + "/" + file, max_bytes);
}

}  // namespace fathom
