// SPDX-License-Identifier: Apache-2.0
// File descriptors and whole-file helpers. Fd owns one descriptor and closes it. Not shared between
// threads unless the caller sees to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace fathom {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

Result<Fd> open_file(const std::string& path, int flags, unsigned mode = 0644);
Result<std::pair<Fd, Fd>> make_pipe();
// Opens /dev/null for each of stdin, stdout and stderr that is closed, so that no file of ours
// takes its place and what is said there ends in it.
void fill_standard_fds();

// All bytes or an error; EINTR and short writes are retried.
Status write_all(int fd, std::string_view bytes);
Status write_file(const std::string& path, std::string_view bytes);

// The whole file, at most `limit` bytes.
Result<std::string> read_file(const std::string& path, size_t limit = size_t{64} << 20);

// Of an open file, from where it stands: at most `most` bytes; `path` is for the error.
Result<std::string> read_up_to(int fd, size_t most, const std::string& path);

// Its first bytes, at most `most`.
Result<std::string> read_start(const std::string& path, size_t most);

// Makes the entries of a folder durable.
Status sync_folder(const std::string& path);

}  // namespace fathom
