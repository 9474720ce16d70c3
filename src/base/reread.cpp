// SPDX-License-Identifier: Apache-2.0
#include "base/reread.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace fathom {
namespace {

constexpr size_t kStepBytes = 4096;
// The kernel fills a page with whole records before it answers: where this much room was left, and
// a record is no longer, there are no more.
constexpr size_t kMostRecordBytes = 2048;

}  // namespace

RereadFile::RereadFile(const std::string& path) {
  if (auto opened = open_file(path, O_RDONLY); opened.ok()) file_ = std::move(opened).value();
}

std::string_view RereadFile::read() const {
  if (!file_.valid()) return {};
  static thread_local std::array<char, kStepBytes> buffer;
  const ssize_t got = pread(file_.get(), buffer.data(), buffer.size(), 0);
  return got > 0 ? std::string_view(buffer.data(), static_cast<size_t>(got)) : std::string_view();
}

std::string_view RereadFile::read_all() const {
  static thread_local std::string text;
  size_t size = 0;
  while (file_.valid()) {
    if (text.size() < size + kStepBytes) text.resize(size + 2 * kStepBytes);
    const ssize_t got =
        pread(file_.get(), text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (got <= 0) break;
    size += static_cast<size_t>(got);
    if (static_cast<size_t>(got) + kMostRecordBytes <= kStepBytes) break;
  }
  return {text.data(), size};
}

}  // namespace fathom
