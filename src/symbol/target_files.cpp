// SPDX-License-Identifier: Apache-2.0
#include "symbol/target_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/proc.h"
#include "base/scan.h"

namespace fathom {
namespace {

// Kernels before 5.6 have no openat2: plain paths will do where the root is ours too.
Result<Fd> find_in_same_root(int root, const std::string& path, int flags) {
  struct stat theirs {
  }, ours{};
  if (fstat(root, &theirs) != 0 || stat("/", &ours) != 0) return errno_error("stat /");
  if (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino)
    return Error{Code::kUnsupported, "files of containers need openat2 (Linux 5.6)"};
  return open_file(path, flags);
}

}  // namespace

Result<Fd> open_root_of(int64_t pid) {
  return open_file(proc_folder(pid) + "/root", O_PATH | O_DIRECTORY);
}

Result<Fd> find_in_root(int root, const std::string& path, LastLink last) {
  const int flags = O_PATH | O_CLOEXEC | (last == LastLink::kReject ? O_NOFOLLOW : 0);
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  // EAGAIN: something was renamed meanwhile, and the kernel cannot be sure.
  for (int tries = 0; tries < 3; ++tries) {
    fd = syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  if (fd < 0 && errno == ENOSYS) return find_in_same_root(root, path, flags);
  if (fd < 0) return errno_error("open " + path);
  return Fd(static_cast<int>(fd));
}

Result<Fd> find_mapped(int64_t pid, uint64_t start, uint64_t end, const std::string& path) {
  const std::string link = fmt::format("{}/map_files/{:x}-{:x}", proc_folder(pid), start, end);
  if (auto found = open_file(link, O_PATH); found.ok()) return found;
  TRY_ASSIGN(const Fd root, open_root_of(pid));
  return find_in_root(root.get(), path);
}

Result<Fd> open_found(const Fd& found) {
  struct stat facts {};
  if (fstat(found.get(), &facts) != 0) return errno_error("stat");
  if (!S_ISREG(facts.st_mode)) return Error{Code::kInvalid, "not a regular file"};
  return open_file(fmt::format("/proc/self/fd/{}", found.get()), O_RDONLY);
}

Result<Fd> open_in_root(int root, const std::string& path, LastLink last) {
  TRY_ASSIGN(const Fd found, find_in_root(root, path, last));
  return open_found(found);
}

Result<int64_t> inner_pid(int64_t pid) {
  TRY_ASSIGN(const std::string status, read_file(proc_folder(pid) + "/status"));
  std::string_view text = status;
  while (auto line = take_line(text)) {
    if (!line->starts_with("NSpid:")) continue;
    std::string_view rest = line->substr(6);
    int64_t last = pid;
    while (const auto number = take_number(rest)) last = *number;
    return last;
  }
  return pid;  // kernels before 4.1
}

}  // namespace fathom
