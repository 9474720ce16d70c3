// SPDX-License-Identifier: Apache-2.0
#include "hub/data_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/file_mode.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr int64_t kDataVersion = 1;
constexpr const char* kVersionFile = "VERSION";
constexpr const char* kDatabase = "hub.sqlite";

// Creates what is missing of the path. Only its last directory is private.
Status create_directory(const std::string& path, unsigned mode) {
  const std::filesystem::path whole(path);
  std::error_code failed;
  if (whole.has_parent_path()) std::filesystem::create_directories(whole.parent_path(), failed);
  if (failed) return errno_error("create " + whole.parent_path().string(), failed.value());
  if (mkdir(path.c_str(), mode) == 0) {
    if (chmod(path.c_str(), mode) != 0) return errno_error("create " + path);
    return {};
  }
  return errno == EEXIST ? Status() : Status(errno_error("create " + path));
}

}  // namespace

Result<DataDirectory> DataDirectory::open(const std::string& path, unsigned file_mode) {
  DataDirectory data;
  data.path_ = path;
  while (data.path_.size() > 1 && data.path_.ends_with('/')) data.path_.pop_back();
  TRY(create_directory(data.path_, directory_mode(file_mode)));
  TRY_ASSIGN(data.directory_, open_own_directory(data.path_));
  auto lock = open_own_file(data.directory_, "LOCK", O_RDWR | O_CREAT);
  if (!lock.ok()) return std::move(lock).error().within(path);
  data.lock_ = std::move(lock).value();
  if (flock(data.lock_.get(), LOCK_EX | LOCK_NB) != 0)
    return Error{Code::kExists, path + " is in use by another hub",
                 "choose another directory with --data, or stop that hub"};
  if (auto prepared = data.prepare(file_mode); !prepared.ok())
    return std::move(prepared).error().within(path);
  return data;
}

Status DataDirectory::prepare(unsigned file_mode) {
  TRY(create_version(file_mode));
  TRY(check_version());
  return prepare_database(file_mode);
}

Status DataDirectory::create_version(unsigned file_mode) {
  if (faccessat(directory_.get(), kVersionFile, F_OK, AT_SYMLINK_NOFOLLOW) == 0) return {};
  const std::string draft = std::string(kVersionFile) + ".new";
  if (unlinkat(directory_.get(), draft.c_str(), 0) != 0 && errno != ENOENT)  // of a killed hub
    return errno_error("remove " + draft);
  TRY_ASSIGN(const Fd file,
             open_own_file(directory_, draft, O_WRONLY | O_CREAT | O_EXCL, file_mode));
  TRY(write_all(file.get(), fmt::format("{}\n", kDataVersion)));
  if (renameat(directory_.get(), draft.c_str(), directory_.get(), kVersionFile) != 0)
    return errno_error(std::string("write ") + kVersionFile);
  return fsync(directory_.get()) == 0 ? Status() : Status(errno_error("fsync"));
}

Status DataDirectory::check_version() {
  TRY_ASSIGN(const Fd file, open_own_file(directory_, kVersionFile, O_RDONLY));
  TRY_ASSIGN(std::string text, read_up_to(file.get(), 64, kVersionFile));
  while (text.ends_with('\n')) text.pop_back();
  const auto version = parse_number(text);
  if (!version.ok() || version.value() < 1)
    return Error{Code::kCorrupt, std::string(kVersionFile) + " contains no version",
                 "check that this is the data directory of a hub"};
  if (version.value() > kDataVersion)
    return Error{Code::kUnsupported, fmt::format("the data is of version {}, made by a newer hub; "
                                                 "this one knows version {}",
                                                 version.value(), kDataVersion)};
  return {};
}

// SQLite gives files that it adds the permissions of the database.
Status DataDirectory::prepare_database(unsigned file_mode) {
  TRY_ASSIGN(const Fd file, open_own_file(directory_, kDatabase, O_RDWR | O_CREAT, file_mode));
  if (fchmod(file.get(), file_mode) != 0) return errno_error("change permissions");
  for (const char* suffix : {"-wal", "-shm"}) {
    const auto more = open_own_file(directory_, std::string(kDatabase) + suffix, O_RDWR);
    if (!more.ok() && more.error().code == Code::kNotFound) continue;
    if (!more.ok()) return more.error();
    if (fchmod(more.value().get(), file_mode) != 0) return errno_error("change permissions");
  }
  return {};
}

std::string DataDirectory::database() const { return path_ + "/" + kDatabase; }

}  // namespace fathom
