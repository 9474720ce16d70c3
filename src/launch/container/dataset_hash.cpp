// SPDX-License-Identifier: Apache-2.0
#include "launch/container/dataset_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/fd.h"
#include "base/sha256.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostRead = 16 << 20;
constexpr size_t kMostFiles = 100'000;

struct File {
  std::string name, path;
  uintmax_t bytes = 0;
};

std::string hex(std::string_view data) {
  std::string text;
  for (const uint8_t byte : sha256(data)) text += fmt::format("{:02x}", byte);
  return text;
}

std::vector<File> files_of(const std::string& path) {
  std::vector<File> files;
  std::error_code error;
  if (fs::is_regular_file(path, error)) return {{"", path, fs::file_size(path, error)}};
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator() && files.size() < kMostFiles;
       at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored))
      files.push_back({at->path().lexically_relative(path), at->path(), at->file_size(ignored)});
  }
  std::sort(files.begin(), files.end(),
            [](const File& left, const File& right) { return left.name < right.name; });
  return files;
}

}  // namespace

std::string dataset_hash(const std::string& path) {
  const std::vector<File> files = files_of(path);
  if (files.empty()) return {};
  uintmax_t bytes = 0;
  for (const File& file : files) bytes += file.bytes;
  const bool whole = bytes <= kMostRead;
  std::string text;
  for (const File& file : files) {
    text += fmt::format("{}\n{}\n", file.name, file.bytes);
    if (whole) text += hex(read_file(file.path).value_or("")) + "\n";
  }
  return (whole ? "sha256:" : "names-sha256:") + hex(text);
}

}  // namespace fathom
