// SPDX-License-Identifier: Apache-2.0
#include "base/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "base/fd.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr unsigned kBufferBytes = 1U << 17;

ssize_t write_packed(void* file, const char* bytes, size_t size) {
  const int written = gzwrite(static_cast<gzFile>(file), bytes, static_cast<unsigned>(size));
  return written > 0 ? written : 0;
}

// Where unpacking stopped short; ok where it did not.
Status check_unpacked(gzFile file, const std::string& path, const std::string& where) {
  int error = Z_OK;
  const std::string why = gzerror(file, &error);
  if (error == Z_OK || error == Z_STREAM_END) return {};
  if (error == Z_ERRNO) return errno_error("read " + path);
  const std::string hint =
      fmt::format("what is intact: gzip -dc {0} >FILE, and use FILE", shell_quote(path));
  if (error == Z_BUF_ERROR) {
    return Error{Code::kCorrupt,
                 fmt::format("{}: truncated: the gzip data ends after {} compressed bytes, {}",
                             path, format_count(gzoffset(file)), where),
                 hint};
  }
  return Error{Code::kCorrupt,
               fmt::format("{}: invalid gzip data near compressed byte {}, {}: {}", path,
                           format_count(gzoffset(file)), where, why),
               hint};
}

int close_packed(void* file) { return gzclose(static_cast<gzFile>(file)) == Z_OK ? 0 : -1; }

}  // namespace

bool is_gzip(std::string_view start) { return start.starts_with("\x1f\x8b"); }

Result<std::string> read_unpacked_start(const std::string& path, size_t most) {
  auto packed = read_start(path, most);
  if (!packed.ok() || !is_gzip(packed.value())) return packed;
  const gzFile file = gzopen(path.c_str(), "rbe");
  if (file == nullptr) return errno_error("open " + path);
  std::string start(most, '\0');
  const int read = gzread(file, start.data(), static_cast<unsigned>(most));
  start.resize(read > 0 ? static_cast<size_t>(read) : 0);
  const Status sound =
      start.empty() ? check_unpacked(file, path, "before its first byte") : Status{};
  gzclose(file);
  TRY(sound);
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
  lines.path_ = path;
  return lines;
}

bool UnpackedLines::next(std::string& line, size_t most) {
  line.clear();
  while (true) {
    const size_t end = buffer_.find('\n', at_);
    const size_t stop = std::min(end, buffer_.size());
    line.append(buffer_, at_, std::min(stop - at_, most - line.size()));
    if (end != std::string::npos) {
      at_ = end + 1;
      ++lines_;
      return true;
    }
    buffer_.resize(kBufferBytes);
    at_ = 0;
    const int read = gzread(static_cast<gzFile>(file_.get()), buffer_.data(), kBufferBytes);
    buffer_.resize(read > 0 ? static_cast<size_t>(read) : 0);
    if (read > 0) continue;
    lines_ += line.empty() ? 0 : 1;
    return !line.empty();
  }
}

Status UnpackedLines::check() const {
  return check_unpacked(static_cast<gzFile>(file_.get()), path_,
                        fmt::format("in line {}", format_count(std::max<int64_t>(1, lines_))));
}

}  // namespace fathom
