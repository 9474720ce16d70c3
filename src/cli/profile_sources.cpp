// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_sources.h"

#include <filesystem>

#include "base/fd.h"
#include "cli/newest.h"
#include "import/folded_importer.h"

namespace fathom {
namespace {

constexpr size_t kStartBytes = 65536;

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ||
         std::filesystem::exists(path + kFolderSuffix, ignored);
}

bool is_folded_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const auto start = read_start(path, kStartBytes);
  return start.ok() && looks_folded(start.value());
}

// A file that is neither folded stacks nor the beginning of a journal; folders are for others.
Status check_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored) || path.ends_with(".tar") ||
      std::filesystem::exists(path + kFolderSuffix, ignored))
    return {};
  TRY_ASSIGN(const std::string start, read_start(path, kStartBytes));
  if (start.starts_with(kJournalMagic)) return {};
  return not_folded(path, start);
}

}  // namespace

Result<ProfileSource> open_source(const std::string& word) {
  ProfileSource source{.path = word};
  const size_t equals = word.find('=');
  if (equals != std::string::npos && equals > 0 && !exists(word)) {
    source.label = word.substr(0, equals);
    source.path = word.substr(equals + 1);
  }
  if (source.path == "-") {
    source.path = "/dev/stdin";
    return source;
  }
  if (is_folded_file(source.path)) return source;
  TRY(check_file(source.path));
  TRY_ASSIGN(source.recording, open_recording(source.path));
  source.path = source.recording->path();
  return source;
}

Result<std::vector<ProfileSource>> open_sources(const std::vector<std::string>& words,
                                                uint32_t set) {
  std::vector<ProfileSource> sources;
  for (const std::string& word : words) {
    TRY_ASSIGN(ProfileSource source, open_source(word));
    source.set = set;
    sources.push_back(std::move(source));
  }
  return sources;
}

std::string source_name(const std::string& path) {
  if (path == "/dev/stdin") return "stdin";
  for (const std::string_view suffix :
       {std::string_view(kFolderSuffix), std::string_view(".folded")}) {
    if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
  }
  return path;
}

}  // namespace fathom
