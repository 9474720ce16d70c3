// SPDX-License-Identifier: Apache-2.0
#include "base/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "base/fd.h"

namespace fathom {
namespace {

constexpr unsigned kBufferBytes = 1U << 17;

ssize_t write_packed(void* file, const char* bytes, size_t size) {
  const int written = gzwrite(static_cast<gzFile>(file), bytes, static_cast<unsigned>(size));
  return written > 0 ? written : 0;
}

int close_packed(void* file) { return gzclose(static_cast<gzFile>(file)) == Z_OK ? 0 : -1; }

}  // namespace

bool is_gzip(std::string_view start) { return start.starts_with("\x1f\x8b"); }

Result<std::string> read_unpacked_start(const std::string& path, size_t most) {
  TRY_ASSIGN(std::string start, read_start(path, most));
  if (!is_gzip(start)) return start;
  const gzFile file = gzopen(path.c_str(), "rbe");
  if (file == nullptr) return errno_error("open " + path);
  start.resize(most);
  const int read = gzread(file, start.data(), static_cast<unsigned>(most));
  gzclose(file);
  start.resize(read > 0 ? static_cast<size_t>(read) : 0);
  return start;
}

Result<std::FILE*> create_gzip(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "wbe6");
  if (file == nullptr) return errno_error("open " + path);
  gzbuffer(file, kBufferBytes);
  std::FILE* stream = fopencookie(
      file, "w", {.read = nullptr, .write = write_packed, .seek = nullptr, .close = close_packed});
  if (stream == nullptr) {
    gzclose(file);
    return errno_error("open " + path);
  }
  return stream;
}

void UnpackedLines::Closer::operator()(void* file) const { gzclose_r(static_cast<gzFile>(file)); }

Result<UnpackedLines> UnpackedLines::open(const std::string& path) {
  UnpackedLines lines;
  const gzFile file = gzopen(path.c_str(), "rbe");
  if (file == nullptr) return errno_error("open " + path);
  gzbuffer(file, kBufferBytes);
  lines.file_.reset(file);
  return lines;
}

bool UnpackedLines::next(std::string& line) {
  line.clear();
  while (true) {
    const size_t end = buffer_.find('\n', at_);
    const size_t stop = std::min(end, buffer_.size());
    line.append(buffer_, at_, std::min(stop - at_, kMostLine - line.size()));
    if (end != std::string::npos) {
      at_ = end + 1;
      return true;
    }
    buffer_.resize(kBufferBytes);
    at_ = 0;
    const int read = gzread(static_cast<gzFile>(file_.get()), buffer_.data(), kBufferBytes);
    buffer_.resize(read > 0 ? static_cast<size_t>(read) : 0);
    if (read > 0) continue;
    int error = Z_OK;
    gzerror(static_cast<gzFile>(file_.get()), &error);
    damaged_ = damaged_ || read < 0 || (error != Z_OK && error != Z_STREAM_END);
    return !line.empty();
  }
}

}  // namespace fathom
