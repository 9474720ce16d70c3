// SPDX-License-Identifier: Apache-2.0
// The folder a run is recorded into. Never one that holds something already: a recording there
// stays, unless it is to be replaced.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/file_mode.h"
#include "base/result.h"

namespace fathom {

// The folder that a name stands for: ".fathom" is added where it is missing.
std::string run_folder_name(const std::string& wanted);

// Makes the folder for a run of `command`. `wanted` is the user's choice (".fathom" is added if it
// is missing); empty: NAME-1.fathom, NAME-2.fathom … in the current folder, the first that is free.
// Whoever `file_mode` lets read the files may enter the folder.
Result<std::string> make_run_folder(const std::string& wanted,
                                    const std::vector<std::string>& command,
                                    unsigned file_mode = kPrivateFileMode);

// A recording that another is to replace. It comes back if none was made in its place, and goes if
// one was.
class SetAside {
 public:
  // Moves the recording in `folder` aside; kExists if what is there is no finished recording and
  // nothing else. No folder is fine.
  static Result<SetAside> make(const std::string& folder);
  SetAside() = default;
  SetAside(SetAside&& other) noexcept
      : folder_(std::exchange(other.folder_, {})), aside_(std::move(other.aside_)) {}
  SetAside& operator=(SetAside&& other) noexcept {
    std::swap(folder_, other.folder_);
    std::swap(aside_, other.aside_);
    return *this;
  }
  ~SetAside();

 private:
  std::string folder_, aside_;  // empty: nothing was moved
};

// Removes a folder in which nothing was recorded.
void drop_run_folder(const std::string& folder);

// Turns the journal in `folder` into tables, in a process of its own: the table engine is large and
// may not be there. The journal stays as it is if this fails.
Status make_tables(const std::string& folder);

// Tables for journals that killed recorders left in the folder around `folder` under the same name:
// NAME-*.fathom and `folder` itself. Returns what was recovered.
std::vector<std::string> recover_left_behind(const std::string& folder);

}  // namespace fathom
