// SPDX-License-Identifier: Apache-2.0
#include "cli/newest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.h"

namespace fathom {
namespace {

constexpr size_t kMostNamed = 6;

// NAME of each NAME.fathom in a folder.
std::vector<std::string> recordings_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == kFolderSuffix) names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

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
    return Error{Code::kNotFound, "no recording is in this folder",
                 "make one with: fathom run -- COMMAND"};
  return newest;
}

Result<Recording> open_recording(const std::string& name) {
  auto recording = Recording::open(name);
  if (recording.ok() || recording.error().code != Code::kNotFound) return recording;
  const std::filesystem::path path(name);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<std::string> there = recordings_in(folder);
  const std::vector<std::string_view> candidates(there.begin(), there.end());
  const std::string wanted = path.extension() == kFolderSuffix ? path.stem() : path.filename();
  Error error = std::move(recording).error();
  std::error_code failed;
  const auto where = std::filesystem::weakly_canonical(folder, failed);
  error.message += " in " + (failed ? folder : where).string();
  if (const auto meant = closest_match(wanted, candidates)) {
    error.hint = "did you mean " + (path.parent_path() / *meant).string() + "?";
  } else if (!there.empty()) {
    if (there.size() > kMostNamed) there.resize(kMostNamed);
    error.hint = fmt::format("some that are there: {}", fmt::join(there, ", "));
  }
  return error;
}

}  // namespace fathom
