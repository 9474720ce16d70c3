// SPDX-License-Identifier: Apache-2.0
#include "probe/io/coverage.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/fd.h"
#include "base/proc.h"
#include "base/text.h"
#include "wire/hold.h"

namespace fathom {
namespace {

constexpr size_t kHeadBytes = 4096;
constexpr size_t kNamesShown = 3;
// The library is there and has made no spool.
constexpr const char* kUnrecorded = "started under a seccomp filter, or unable to write a spool";

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

// Certain from the first look on; empty: nothing speaks against the library.
std::string obstacle_in(const std::string& folder) {
  std::error_code error;
  const std::string program = std::filesystem::read_symlink(folder + "/exe", error);
  if (program == FATHOM_HOLD_FOLDER "/hold") return "";  // our own, in a container
  const auto head = read_start(folder + "/exe", kHeadBytes);
  if (head.ok() && is_static(head.value())) return "static";
  const auto vector = read_file(folder + "/auxv");
  return vector.ok() && is_secure(vector.value()) ? "setuid" : "";
}

// One that runs as somebody else keeps its files from us; none that we could put the library into
// can become somebody else.
bool is_anothers(const std::string& folder) {
  struct stat status {};
  return stat(folder.c_str(), &status) == 0 && status.st_uid != geteuid();
}

bool gains_rights(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  return (status.st_mode & (S_ISUID | S_ISGID)) != 0 ||
         getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

// Libraries stand in it from the last that was mapped to the first, and the stack after them. A
// text that ends before it is of a program that ended, or executed another, while it was read.
Loaded what_is_loaded(std::string_view maps) {
  if (maps.find("libfathom-io") != std::string_view::npos) return Loaded::kOurs;
  if (maps.find("[stack]") == std::string_view::npos) return Loaded::kNothingYet;
  for (const std::string_view line : split_words(maps, '\n')) {
    const std::string_view file = line.substr(line.rfind('/') + 1);
    if (line.find('/') != std::string_view::npos && !file.starts_with("ld-") &&
        file.find(".so") != std::string_view::npos)
      return Loaded::kOthers;
  }
  return Loaded::kNothingYet;
}

void Coverage::look(const Target& target, const SpoolFolder& folder) {
  for (const int64_t pid : processes_in(target)) {
    const std::string process = proc_folder(pid);
    std::error_code gone;
    const Image image{pid, std::filesystem::read_symlink(process + "/exe", gone).string()};
    if (gone == std::errc::permission_denied && is_anothers(process) &&
        judged_.insert(image).second)
      note(process, "setuid");
    if (gone || folder.covers(pid, image.second) || judged_.contains(image)) continue;
    if (const std::string obstacle = obstacle_in(process); !obstacle.empty()) {
      note(process, obstacle);
      judged_.insert(image);
      continue;
    }
    const auto maps = read_file(process + "/maps");
    const Loaded loaded = maps.ok() ? what_is_loaded(maps.value()) : Loaded::kNothingYet;
    if (loaded == Loaded::kNothingYet) continue;
    judged_.insert(image);  // also one that was forked by one that has it
    if (loaded == Loaded::kOthers) note(process, "started without the library");
    if (loaded == Loaded::kOurs && read_seccomp_filters(process) > own_filters_)
      note(process, kUnrecorded);
  }
}

void Coverage::watch(const Target& target) {
  auto watch = ProgramWatch::open(target);
  if (!watch.ok()) return;
  watch_ = std::move(watch).value();
  auto root = open_file(proc_folder(target.pid()) + "/root", O_PATH | O_DIRECTORY);
  if (root.ok()) root_ = std::move(root).value();
}

void Coverage::drain(int64_t until_ns) {
  if (!watch_) return;
  for (const ExecutedProgram& program : watch_->ended(until_ns)) judge(program);
}

void Coverage::finish(const SpoolFolder& folder) {
  if (!watch_) return;
  for (const ExecutedProgram& program : watch_->rest()) judge(program);
  // Nor does it tell of a program that may be executed and not read, into which ours comes.
  for (const ExecutedProgram& program : hidden_)
    if (!folder.covers_name(program.pid, program.name)) missing_["setuid"].insert(program.name);
  for (const auto& [path, name] : loaded_)
    if (!folder.covers_program(path)) missing_[kUnrecorded].insert(name);
}

void Coverage::judge(const ExecutedProgram& program) {
  if (program.has_ours) loaded_.emplace(program.path, program.name);
  if (program.has_ours || program.path == FATHOM_HOLD_FOLDER "/hold") return;
  if (program.path.empty())
    hidden_.push_back(program);
  else if (!program.has_loader)
    missing_["static"].insert(program.name);
  else if (gains_rights(fmt::format("/proc/self/fd/{}{}", root_.get(), program.path)))
    missing_["setuid"].insert(program.name);
  else if (program.has_libraries)
    missing_["started without the library"].insert(program.name);
}

std::vector<int> Coverage::wake_fds() const {
  return watch_ ? watch_->wake_fds() : std::vector<int>();
}

void Coverage::note(const std::string& process, const std::string& reason) {
  if (const auto name = read_proc_name(process); name.ok()) missing_[reason].insert(name.value());
}

std::string Coverage::text() const {
  std::string text;
  for (const auto& [reason, names] : missing_) {
    text += fmt::format("{}not covered, {}: {}", text.empty() ? "" : "; ", reason,
                        first_few(names, kNamesShown));
  }
  return text;
}

}  // namespace fathom
