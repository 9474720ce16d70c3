// SPDX-License-Identifier: Apache-2.0
#include "base/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace fathom {

void Fd::reset(int fd) {
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

Result<Fd> open_file(const std::string& path, int flags, unsigned mode) {
  int fd = -1;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return errno_error("open " + path);
  return Fd(fd);
}

Result<std::pair<Fd, Fd>> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno_error("pipe");
  return std::pair{Fd(ends[0]), Fd(ends[1])};
}

void fill_standard_fds() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", O_RDWR);  // takes the lowest that is free
  }
}

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno_error("write");
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status write_file(const std::string& path, std::string_view bytes) {
  TRY_ASSIGN(Fd file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
  if (auto written = write_all(file.get(), bytes); !written.ok())
    return std::move(written).error().within(path);
  return {};
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  TRY_ASSIGN(Fd file, open_file(path, O_RDONLY));
  std::string bytes;
  size_t used = 0;
  while (true) {
    if (used == bytes.size()) bytes.resize(used == 0 ? 4096 : used * 2);
    const ssize_t got = read(file.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read " + path);
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used > limit)
      return Error{Code::kInvalid, path + " is larger than " + std::to_string(limit) + " bytes"};
  }
  bytes.resize(used);
  return bytes;
}

Result<std::string> read_start(const std::string& path, size_t most) {
  TRY_ASSIGN(const Fd file, open_file(path, O_RDONLY));
  return read_up_to(file.get(), most, path);
}

Result<std::string> read_up_to(int fd, size_t most, const std::string& path) {
  std::string bytes(most, '\0');
  size_t used = 0;
  while (used < most) {
    const ssize_t got = read(fd, bytes.data() + used, most - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read " + path);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

Status sync_folder(const std::string& path) {
  TRY_ASSIGN(Fd folder, open_file(path, O_RDONLY | O_DIRECTORY));
  if (fsync(folder.get()) != 0) return errno_error("fsync " + path);
  return {};
}

}  // namespace fathom
