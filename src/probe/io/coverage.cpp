// SPDX-License-Identifier: Apache-2.0
#include "probe/io/coverage.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/auxv.h>

#include <cstring>

#include "base/fd.h"
#include "base/proc.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr size_t kHeadBytes = 4096;
constexpr size_t kNamesShown = 3;

// Whether a loader is named in the head of the program, which would load the library.
bool is_static(const std::string& head) {
  Elf64_Ehdr file{};
  if (head.size() < sizeof file) return false;
  std::memcpy(&file, head.data(), sizeof file);
  if (std::memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  for (size_t i = 0; i < file.e_phnum; ++i) {
    Elf64_Phdr part{};
    const uint64_t at = file.e_phoff + i * sizeof part;
    if (at + sizeof part > head.size()) return false;
    std::memcpy(&part, head.data() + at, sizeof part);
    if (part.p_type == PT_INTERP) return false;
  }
  return true;
}

// AT_SECURE of its auxiliary vector: the loader ignores the environment.
bool is_secure(const std::string& vector) {
  for (size_t at = 0; at + 16 <= vector.size(); at += 16) {
    uint64_t pair[2];
    std::memcpy(pair, vector.data() + at, sizeof pair);
    if (pair[0] == AT_SECURE) return pair[1] != 0;
  }
  return false;
}

std::string reason_for(const std::string& folder) {
  const auto head = read_start(folder + "/exe", kHeadBytes);
  if (head.ok() && is_static(head.value())) return "static";
  const auto vector = read_file(folder + "/auxv");
  if (vector.ok() && is_secure(vector.value())) return "setuid";
  const auto maps = read_file(folder + "/maps");
  if (!maps.ok() || maps.value().find("libfathom-io") != std::string::npos) return "";
  return "started without the library";
}

}  // namespace

void Coverage::look(const Target& target, const SpoolFolder& folder) {
  for (const int64_t pid : processes_in(target)) {
    if (folder.covered().contains(pid) || !looked_at_.insert(pid).second) continue;
    const std::string process = proc_folder(pid);
    const std::string reason = reason_for(process);
    if (reason.empty()) continue;
    auto name = read_proc_name(process);
    if (name.ok()) missing_[reason].insert(printable(name.value()));
  }
}

std::string Coverage::text() const {
  std::string text;
  for (const auto& [reason, names] : missing_) {
    std::string list;
    size_t shown = 0;
    for (const std::string& name : names) {
      if (shown++ == kNamesShown) break;
      list += (list.empty() ? "" : ", ") + name;
    }
    if (names.size() > kNamesShown) list += fmt::format(" and {} more", names.size() - kNamesShown);
    text += fmt::format("{}not covered, {}: {}", text.empty() ? "" : "; ", reason, list);
  }
  return text;
}

}  // namespace fathom
