// SPDX-License-Identifier: Apache-2.0
#include "base/scratch_folder.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace fathom {
namespace {

// Where a file's pages are memory, and no disk is written.
std::string parent_folder() {
  if (access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm";
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen == '/' ? chosen : "/tmp";
}

}  // namespace

Result<std::string> make_scratch_folder(std::string_view kind, unsigned mode) {
  std::string path = fmt::format("{}/fathom-{}-{}-XXXXXX", parent_folder(), kind, getpid());
  if (mkdtemp(path.data()) == nullptr)
    return Error{Code::kIo, "cannot make " + path + ": " + std::strerror(errno),
                 "a folder is needed in memory (/dev/shm) or TMPDIR"};
  if (chmod(path.c_str(), mode) != 0)
    return Error{Code::kIo, "cannot open " + path + " to others", ""};
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
    if (ours && pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) left.push_back(entry.path());
  }
  return left;
}

}  // namespace fathom
