// SPDX-License-Identifier: Apache-2.0
#include "cli/newest.h"

#include <filesystem>

#include "record/recording.h"

namespace fathom {

Result<std::string> newest_recording(const std::string& folder) {
  namespace fs = std::filesystem;
  std::string newest;
  fs::file_time_type newest_time;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != kFolderSuffix) continue;
    const auto time = entry.last_write_time(error);
    if (error || (!newest.empty() && time <= newest_time)) continue;
    newest = entry.path().filename();
    newest_time = time;
  }
  if (newest.empty())
    return Error{Code::kInvalid, "no recording is in this folder",
                 "make one with: fathom run -- COMMAND"};
  return newest;
}

}  // namespace fathom
