// SPDX-License-Identifier: Apache-2.0
// Gzipped files as streams: written through an ordinary FILE, read line by line, also where the
// file is not gzipped at all. Not shared between threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "base/result.h"

namespace fathom {

// Of its first bytes.
bool is_gzip(std::string_view start);
// What the file begins with, unpacked where it is packed: at most `most` bytes. kCorrupt where it
// is packed and ends or is damaged before any of it.
Result<std::string> read_unpacked_start(const std::string& path, size_t most);

// Closing it (std::fclose) ends the archive.
Result<std::FILE*> create_gzip(const std::string& path);

class UnpackedLines {
 public:
  static Result<UnpackedLines> open(const std::string& path);

  // The next line without its end. False: there is no more, or the file is damaged from here on,
  // which check() says. A line longer than `most` is cut there.
  bool next(std::string& line, size_t most = kMostLine);
  // kCorrupt where the file ended in the middle of its compressed data, or this is damaged: where.
  [[nodiscard]] Status check() const;
  [[nodiscard]] int64_t lines() const { return lines_; }  // so far
  static constexpr size_t kMostLine = size_t{1} << 20;

 private:
  struct Closer {
    void operator()(void* file) const;
  };
  std::unique_ptr<void, Closer> file_;
  std::string path_;
  std::string buffer_;
  size_t at_ = 0;
  int64_t lines_ = 0;
};

}  // namespace fathom
