// SPDX-License-Identifier: Apache-2.0
#include "base/reread.h"

#include <fcntl.h>
#include <unistd.h>

namespace fathom {

RereadFile::RereadFile(const std::string& path) {
  if (auto opened = open_file(path, O_RDONLY); opened.ok()) file_ = std::move(opened).value();
}

std::string_view RereadFile::read() const {
  if (!file_.valid()) return {};
  static thread_local std::array<char, 4096> buffer;
  const ssize_t got = pread(file_.get(), buffer.data(), buffer.size(), 0);
  return got > 0 ? std::string_view(buffer.data(), static_cast<size_t>(got)) : std::string_view();
}

}  // namespace fathom
