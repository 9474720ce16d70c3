// SPDX-License-Identifier: Apache-2.0
// The directory in which a hub with SQLite keeps its data: created or verified, with the version of
// its contents, and locked by one hub at a time. Owns the lock. Not thread-safe.
//
// The directory must belong to the user of the hub and be writable by no other: nothing in it is
// then a link or a file that another user placed there.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace fathom {

class DataDirectory {
 public:
  // `file_mode`: of all files in it, those that exist and those that SQLite adds.
  static Result<DataDirectory> open(const std::string& path, unsigned file_mode);
  DataDirectory() = default;

  // The path of the database. The file exists.
  [[nodiscard]] std::string database() const;

 private:
  Status prepare(unsigned file_mode);
  Status create_version(unsigned file_mode);
  Status check_version();
  Status prepare_database(unsigned file_mode);

  std::string path_;
  Fd directory_, lock_;
};

}  // namespace fathom
