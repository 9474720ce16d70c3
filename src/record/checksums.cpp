// SPDX-License-Identifier: Apache-2.0
#include "record/checksums.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <vector>

#include "base/crc32c.h"
#include "base/fd.h"
#include "base/scan.h"

namespace fathom {
namespace {

constexpr size_t kReadBytes = size_t{1} << 18;

Result<FileSum> sum_of_open(const Fd& file, const std::string& path) {
  FileSum sum;
  std::vector<char> buffer(kReadBytes);
  while (true) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read " + path);
    if (got == 0) return sum;
    sum.size_bytes += got;
    sum.crc = crc32c({buffer.data(), static_cast<size_t>(got)}, sum.crc);
  }
}

std::string line_of(const FileSum& sum, std::string_view name) {
  return fmt::format("{:08x} {} {}\n", sum.crc, sum.size_bytes, name);
}

FileSum sum_of_text(std::string_view text) {
  return {static_cast<int64_t>(text.size()), crc32c(text)};
}

}  // namespace

Result<FileSum> sum_of_file(const std::string& path) {
  TRY_ASSIGN(const Fd file, open_file(path, O_RDONLY));
  return sum_of_open(file, path);
}

std::string checksums_text(const Checksums& sums) {
  std::string text;
  for (const auto& [name, sum] : sums) text += line_of(sum, name);
  return text + line_of(sum_of_text(text), kChecksumsName);
}

Result<Checksums> checksums_in(std::string_view text) {
  const size_t own = text.size() < 2 ? 0 : text.rfind('\n', text.size() - 2) + 1;  // npos + 1 is 0
  std::string_view lines = text.substr(0, own);
  if (text.substr(own) != line_of(sum_of_text(lines), kChecksumsName))
    return unreadable(kChecksumsName);
  Checksums sums;
  while (auto line = take_line(lines)) {
    FileSum sum;
    const std::string_view crc = take_word(*line);
    const auto [end, failed] = std::from_chars(crc.data(), crc.data() + crc.size(), sum.crc, 16);
    const auto size = take_number(*line);
    const std::string_view name = take_word(*line);
    if (failed != std::errc() || end != crc.data() + crc.size() || !size || name.empty())
      return unreadable(kChecksumsName);
    sum.size_bytes = *size;
    sums.emplace(name, sum);
  }
  return sums;
}

Result<bool> is_as_written(const std::string& path, const FileSum& written) {
  // Without O_NONBLOCK a pipe that somebody put there would wait for ever.
  TRY_ASSIGN(const Fd file, open_file(path, O_RDONLY | O_NONBLOCK));
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return errno_error("stat " + path);
  if (!S_ISREG(facts.st_mode) || facts.st_size != written.size_bytes) return false;
  TRY_ASSIGN(const FileSum now, sum_of_open(file, path));
  return now == written;
}

}  // namespace fathom
