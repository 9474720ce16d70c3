// SPDX-License-Identifier: Apache-2.0
#include "probe/io/file_names.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "wire/calls.h"

namespace fathom {
namespace {

// From the last to the first, as they stand there.
std::vector<std::string_view> parts_of(std::string_view text, uint32_t count) {
  std::vector<std::string_view> parts;
  while (parts.size() < count) {
    const size_t end = text.find('\0');
    if (end == std::string_view::npos) break;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return parts;
}

std::string path_of(const WireName& head, std::string_view parts, std::string_view tail) {
  if (tail.starts_with('/')) return std::string(tail);
  std::string path = (head.kind & kNameCut) != 0 ? "…" : "";
  const std::vector<std::string_view> names = parts_of(parts, head.parts);
  for (auto name = names.rbegin(); name != names.rend(); ++name) path.append("/").append(*name);
  while (tail.starts_with("./")) tail.remove_prefix(2);
  if (!tail.empty() && tail != ".") path.append("/").append(tail);
  return path.empty() ? "/" : path;
}

}  // namespace

std::string file_name_of(std::span<const std::byte> record) {
  WireName head;
  if (record.size() < sizeof head) return {};
  std::memcpy(&head, record.data(), sizeof head);
  const std::string_view text(reinterpret_cast<const char*>(record.data()) + sizeof head,
                              record.size() - sizeof head);
  if (head.part_bytes > text.size() || head.tail_bytes > text.size() - head.part_bytes) return {};
  const std::string_view parts = text.substr(0, head.part_bytes);
  switch (head.kind & ~static_cast<uint32_t>(kNameCut)) {
    case kNamePipe:
      return fmt::format("pipe:[{}]", head.key.inode);
    case kNameSocket:
      return fmt::format("socket:[{}]", head.key.inode);
    case kNameAnonymous: {
      const auto names = parts_of(parts, head.parts);
      return "anon_inode:" + std::string(names.empty() ? "" : names.front());
    }
    default:
      return path_of(head, parts, text.substr(head.part_bytes, head.tail_bytes));
  }
}

void FileNames::add(std::span<const std::byte> record) {
  std::string name = file_name_of(record);
  if (name.empty()) return;
  WireName head;
  std::memcpy(&head, record.data(), sizeof head);
  if (names_.size() >= kMostNames) names_.erase(names_.begin());
  names_[head.file] = std::move(name);
}

const std::string* FileNames::find(uint32_t file) const {
  const auto found = names_.find(file);
  return found != names_.end() ? &found->second : nullptr;
}

}  // namespace fathom
