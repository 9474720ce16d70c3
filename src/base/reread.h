// SPDX-License-Identifier: Apache-2.0
// A small file of /proc, /sys or a cgroup that is read again and again: opened once, each look is
// one pread(2). Belongs to one thread.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"

namespace fathom {

class RereadFile {
 public:
  RereadFile() = default;
  // Not there, or not ours to read: valid() is false and read() is empty.
  explicit RereadFile(const std::string& path);

  [[nodiscard]] bool valid() const { return file_.valid(); }
  // The text as it is now, cut at 4 KiB; empty when it can no longer be read. Good until the next
  // call on this thread, of any RereadFile.
  [[nodiscard]] std::string_view read() const;
  // The same, however long it is.
  [[nodiscard]] std::string_view read_all() const;

 private:
  Fd file_;
};

}  // namespace fathom
