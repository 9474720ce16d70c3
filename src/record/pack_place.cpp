// SPDX-License-Identifier: Apache-2.0
#include "record/pack_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/clock.h"
#include "base/file_mode.h"

namespace fathom {
namespace {

constexpr int64_t kCopyBytes = int64_t{1} << 18;

std::string trimmed(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool is_plain_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' || byte == '-' || byte == '+';
}

Error exists_error(const std::string& path) {
  return Error{Code::kExists, path + " exists already"};
}

// Some network file systems cannot refuse to replace; there a look beforehand has to do.
Status rename_without_replacing(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) return exists_error(to);
  if (errno != EINVAL && errno != ENOSYS) return errno_error("rename to " + to);
  if (path_exists(to)) return exists_error(to);
  if (rename(from.c_str(), to.c_str()) != 0) return errno_error("rename to " + to);
  return {};
}

}  // namespace

TemporaryPlace::TemporaryPlace(const std::string& final_path) : final_path_(trimmed(final_path)) {
  const size_t slash = final_path_.rfind('/');
  const bool bare = slash == std::string::npos;
  folder_ = bare ? "." : slash == 0 ? "/" : final_path_.substr(0, slash);
  const std::string name = bare ? final_path_ : final_path_.substr(slash + 1);
  path_ = fmt::format("{}/.{}.{}-{}.part", folder_, name, getpid(), monotonic_ns());
}

TemporaryPlace::~TemporaryPlace() {
  std::error_code ignored;  // nothing left to do about it here
  if (made_) std::filesystem::remove_all(path_, ignored);
}

Result<Fd> TemporaryPlace::make_file() {
  TRY_ASSIGN(Fd file, open_file(path_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, kPrivateFileMode));
  made_ = true;
  return file;
}

Status TemporaryPlace::make_folder() {
  if (mkdir(path_.c_str(), directory_mode(kPrivateFileMode)) != 0)
    return errno_error("make folder " + path_);
  made_ = true;
  return {};
}

Status TemporaryPlace::keep(bool replace) {
  if (!replace) {
    TRY(rename_without_replacing(path_, final_path_));
  } else if (rename(path_.c_str(), final_path_.c_str()) != 0) {
    return errno_error("rename to " + final_path_);
  }
  made_ = false;
  return sync_folder(folder_);
}

bool path_exists(const std::string& path) {
  struct stat facts {};
  return lstat(path.c_str(), &facts) == 0;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), is_plain_byte);
}

Status copy_bytes(const Fd& from, const Fd& to, int64_t size_bytes) {
  std::vector<char> buffer(static_cast<size_t>(std::min(size_bytes, kCopyBytes)));
  for (int64_t left = size_bytes; left > 0;) {
    const ssize_t got =
        read(from.get(), buffer.data(), static_cast<size_t>(std::min(left, kCopyBytes)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read");
    if (got == 0) return Error{Code::kCorrupt, fmt::format("ended {} bytes early", left)};
    TRY(write_all(to.get(), {buffer.data(), static_cast<size_t>(got)}));
    left -= got;
  }
  return {};
}

}  // namespace fathom
