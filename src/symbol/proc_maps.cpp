// SPDX-License-Identifier: Apache-2.0
#include "symbol/proc_maps.h"

#include <sys/sysmacros.h>

#include <charconv>
#include <optional>

#include "base/fd.h"
#include "base/proc.h"
#include "base/scan.h"

namespace fathom {
namespace {

constexpr std::string_view kDeletedSuffix = " (deleted)";

bool take_hex_until(std::string_view& text, char stop, uint64_t& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  const auto length = static_cast<size_t>(end - text.data());
  if (failed != std::errc() || length >= text.size() || text[length] != stop) return false;
  text.remove_prefix(length + 1);
  return true;
}

// "\012" stands for the newline in a name, the only byte the kernel escapes here.
std::string unescaped(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const size_t length = std::min(name.find("\\012"), name.size());
    text += name.substr(0, length);
    name.remove_prefix(length);
    if (name.empty()) break;
    text += '\n';
    name.remove_prefix(4);
  }
  return text;
}

// "start-end rwxp offset major:minor inode   path"
std::optional<ProcMap> parse_line(std::string_view line) {
  ProcMap map;
  uint64_t major_number = 0, minor_number = 0;
  if (!take_hex_until(line, '-', map.start) || !take_hex_until(line, ' ', map.end)) return {};
  if (line.size() < 5 || line[4] != ' ' || map.start >= map.end) return {};
  map.executable = line[2] == 'x';
  line.remove_prefix(5);
  if (!take_hex_until(line, ' ', map.offset) || !take_hex_until(line, ':', major_number) ||
      !take_hex_until(line, ' ', minor_number))
    return {};
  map.device = makedev(static_cast<unsigned>(major_number), static_cast<unsigned>(minor_number));
  const auto inode = take_number(line);
  if (!inode) return {};
  map.inode = static_cast<uint64_t>(*inode);
  skip_blanks(line);
  if (line.ends_with(kDeletedSuffix)) line.remove_suffix(kDeletedSuffix.size());
  map.path = unescaped(line);
  return map;
}

}  // namespace

std::vector<ProcMap> parse_proc_maps(std::string_view text, bool all) {
  std::vector<ProcMap> maps;
  while (const auto line = take_line(text))
    if (auto map = parse_line(*line); map && (all || map->executable))
      maps.push_back(std::move(*map));
  return maps;
}

Result<std::vector<ProcMap>> read_proc_maps(int64_t pid) {
  TRY_ASSIGN(const std::string text, read_file(proc_folder(pid) + "/maps"));
  return parse_proc_maps(text);
}

}  // namespace fathom
