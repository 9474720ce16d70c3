// SPDX-License-Identifier: Apache-2.0
#include "cli/leftovers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/fd.h"
#include "base/proc.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "launch/cgroup.h"
#include "launch/container/engine.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::string name_of(int64_t pid) {
  const auto stat = read_proc_stat(proc_folder(pid));
  if (!stat.ok() || stat.value().state == 'Z' || stat.value().state == 'X') return {};
  return fmt::format("{} (pid {})", printable(stat.value().name), pid);
}

// Of a cgroup and those below it, without the cgroups of these containers.
std::string user_of_cgroup(const std::string& folder, const std::vector<EngineLeftover>& without) {
  const auto processes = read_file(folder + "/cgroup.procs");
  if (processes.ok()) {
    for (const std::string_view line : split_words(processes.value(), '\n')) {
      const auto pid = parse_number(line);
      if (!pid.ok()) continue;
      if (std::string name = name_of(pid.value()); !name.empty()) return name;
    }
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_directory(error)) continue;
    const std::string name = entry.path().filename();
    bool is_container = false;
    for (const EngineLeftover& one : without)
      is_container = is_container || (!one.container_id.empty() &&
                                      name.find(one.container_id) != std::string::npos);
    if (is_container) continue;
    if (std::string user = user_of_cgroup(entry.path(), without); !user.empty()) return user;
  }
  return {};
}

// What a process has open, mapped, or in its environment.
std::string references_of(int64_t pid) {
  const std::string folder = proc_folder(pid);
  std::string text =
      read_file(folder + "/environ").value_or("") + "\n" + read_file(folder + "/maps").value_or("");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder + "/fd", error)) {
    std::error_code gone;
    text += "\n" + fs::read_symlink(entry.path(), gone).string();
  }
  return text;
}

void find_users(std::vector<Leftover>& folders) {
  if (folders.empty()) return;
  for (const int64_t pid : list_ids("/proc").value_or({})) {
    if (pid == getpid()) continue;
    const std::string text = references_of(pid);
    for (Leftover& folder : folders)
      if (folder.used_by.empty() && text.find(folder.name) != std::string::npos)
        folder.used_by = name_of(pid);
  }
}

Status remove_folder(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return {};
  return Error{Code::kIo, "cannot remove " + folder + ": " + error.message(), ""};
}

}  // namespace

Leftovers find_leftovers() {
  Leftovers left;
  EngineLeftovers containers = leftovers_of_engine();  // first: their cgroups are below ours
  left.failed = std::move(containers.failed);
  for (const std::string& cgroup : leftover_cgroups())
    left.found.push_back({cgroup, user_of_cgroup(cgroup, containers.found),
                          [cgroup] { return remove_cgroup(cgroup); }});
  std::vector<Leftover> folders;
  for (const char* kind : {"spool", "app", "simulate", "hold", "build", "python"})
    for (const std::string& folder : leftover_scratch_folders(kind))
      folders.push_back({folder, "", [folder] { return remove_folder(folder); }});
  find_users(folders);
  for (Leftover& folder : folders) left.found.push_back(std::move(folder));
  for (auto one = containers.found.rbegin(); one != containers.found.rend(); ++one)
    left.found.insert(left.found.begin(), {std::move(one->what), "", std::move(one->remove)});
  return left;
}

}  // namespace fathom
