// SPDX-License-Identifier: Apache-2.0
#include "base/file_mode.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"

namespace fathom {

Result<unsigned> parse_file_mode(std::string_view text) {
  constexpr unsigned kAllowed = 0644;
  unsigned mode = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '7' || text.size() > 4) {
      mode = ~0U;
      break;
    }
    mode = mode * 8 + static_cast<unsigned>(digit - '0');
  }
  if (text.empty() || (mode & ~kAllowed) != 0 || (mode & 0600) != 0600)
    return Error{Code::kInvalid, fmt::format("invalid value for --mode: '{}'", printable(text)),
                 "0600 (only you may read), 0640 (also your group) or 0644 (also all other users)"};
  return mode;
}

unsigned directory_mode(unsigned file_mode) { return file_mode | 0100 | (file_mode & 0444) >> 2; }

unsigned file_mode_in(const std::string& directory) {
  struct stat state {};
  if (stat(directory.c_str(), &state) != 0) return kPrivateFileMode;
  return (state.st_mode & 0644) | kPrivateFileMode;
}

Result<Fd> open_own_directory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
    return Error{Code::kPermission, path + " is a symbolic link or not a directory",
                 "name the directory itself"};
  if (fd < 0) return errno_error("open " + path);
  Fd directory(fd);
  struct stat state {};
  if (fstat(fd, &state) != 0) return errno_error("open " + path);
  if (state.st_uid != geteuid())
    return Error{Code::kPermission,
                 fmt::format("{} belongs to another user (uid {})", path, state.st_uid),
                 "choose a directory that belongs to you"};
  if ((state.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Error{Code::kPermission, path + " is writable by other users",
                 "chmod go-w " + shell_quote(path) + ", or choose another directory"};
  return directory;
}

Result<Fd> open_own_file(const Fd& directory, const std::string& name, int flags, unsigned mode) {
  const int fd =
      openat(directory.get(), name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode);
  if (fd < 0 && errno == ELOOP)
    return Error{Code::kPermission, name + " is a symbolic link", "remove it"};
  if (fd < 0) return errno_error("open " + name);
  Fd file(fd);
  struct stat state {};
  if (fstat(fd, &state) != 0) return errno_error("open " + name);
  if (!S_ISREG(state.st_mode) || state.st_uid != geteuid())
    return Error{Code::kPermission, name + " is not a regular file of this user", "remove it"};
  return file;
}

}  // namespace fathom
