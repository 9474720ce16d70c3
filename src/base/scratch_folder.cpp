// SPDX-License-Identifier: Apache-2.0
#include "base/scratch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/fd.h"

namespace fathom {
namespace {

// Where a file's pages are memory, and no disk is written.
std::string parent_folder() {
  if (access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm";
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen == '/' ? chosen : "/tmp";
}

// Locks it until this process ends, for those who cannot see this process: it may be in another pid
// namespace.
void hold(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) (void)flock(folder, LOCK_SH | LOCK_NB);
}

bool is_held(const std::string& path) {
  const Fd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return folder.valid() && flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

Result<std::string> make_scratch_folder(std::string_view kind, unsigned mode) {
  std::string path = fmt::format("{}/fathom-{}-{}-XXXXXX", parent_folder(), kind, getpid());
  if (mkdtemp(path.data()) == nullptr)
    return Error{Code::kIo, "cannot make " + path + ": " + std::strerror(errno),
                 "a folder is needed in memory (/dev/shm) or TMPDIR"};
  if (chmod(path.c_str(), mode) != 0)
    return Error{Code::kIo, "cannot open " + path + " to others", ""};
  hold(path);
  return path;
}

std::vector<std::string> leftover_scratch_folders(std::string_view kind) {
  const std::string prefix = fmt::format("fathom-{}-", kind);
  std::vector<std::string> left;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(parent_folder(), error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix)) continue;
    const pid_t pid = std::atoi(name.c_str() + prefix.size());
    struct stat status {};
    const bool ours = lstat(entry.path().c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                      (status.st_uid == geteuid() || geteuid() == 0);
    if (ours && pid > 0 && kill(pid, 0) != 0 && errno == ESRCH && !is_held(entry.path()))
      left.push_back(entry.path());
  }
  return left;
}

}  // namespace fathom
