// SPDX-License-Identifier: Apache-2.0
// Where an archive or a recording comes to be: under a hidden temporary name beside the final one,
// moved there when it is whole, removed when it is not. Owned by the function that writes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace fathom {

class TemporaryPlace {
 public:
  // For the final path: "a/b.tar" is written as "a/.b.tar.PID-TIME.part".
  explicit TemporaryPlace(const std::string& final_path);
  ~TemporaryPlace();  // removes what was not kept: a file, or a folder of files
  TemporaryPlace(const TemporaryPlace&) = delete;
  TemporaryPlace& operator=(const TemporaryPlace&) = delete;

  // One of these, once: what is removed at the end is only what was made here.
  Result<Fd> make_file();
  Status make_folder();
  [[nodiscard]] const std::string& path() const { return path_; }
  // Renames to the final path and makes that durable. Without `replace` an existing one is an
  // error.
  Status keep(bool replace);

 private:
  std::string final_path_;
  std::string folder_;  // which both are in
  std::string path_;
  bool made_ = false;
};

bool path_exists(const std::string& path);
// Names that are safe in any folder: [A-Za-z0-9._-]+, not hidden.
bool is_plain_name(std::string_view name);
// Exactly so many bytes from one file's position to the other's; fewer is kCorrupt.
Status copy_bytes(const Fd& from, const Fd& to, int64_t size_bytes);

}  // namespace fathom
