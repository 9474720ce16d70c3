// SPDX-License-Identifier: Apache-2.0
#include "cli/leftovers.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "base/fd.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "launch/cgroup.h"
#include "launch/container/engine.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kYoungestSeconds = 10;

std::string name_of(int64_t pid) {
  const auto stat = read_proc_stat(proc_folder(pid));
  if (!stat.ok() || stat.value().state == 'Z' || stat.value().state == 'X') return {};
  return fmt::format("{} (pid {})", printable(stat.value().name), pid);
}

// Whether a cgroup's name or path contains the id of one of these containers.
bool names_one_of(std::string_view cgroup, const std::vector<EngineLeftover>& containers) {
  return std::any_of(containers.begin(), containers.end(), [&](const EngineLeftover& one) {
    return !one.container_id.empty() && cgroup.find(one.container_id) != std::string_view::npos;
  });
}

// Of a cgroup and those below it, without the cgroups of these containers.
std::string user_of_cgroup(const std::string& folder, const std::vector<EngineLeftover>& without) {
  const auto processes = read_file(folder + "/cgroup.procs");
  if (processes.ok()) {
    for (const std::string_view line : split_words(processes.value(), '\n')) {
      const auto pid = parse_number(line);
      if (!pid.ok()) continue;
      if (pid.value() == 0) return "a process of another pid namespace";
      if (std::string name = name_of(pid.value()); !name.empty()) return name;
    }
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_directory(error)) continue;
    if (names_one_of(entry.path().filename().string(), without)) continue;
    if (std::string user = user_of_cgroup(entry.path(), without); !user.empty()) return user;
  }
  return {};
}

// What a process has open, mapped, mounted, or in its environment.
std::string references_of(int64_t pid) {
  const std::string folder = proc_folder(pid);
  std::string text;
  for (const char* file : {"/environ", "/maps", "/mountinfo"})
    text += read_file(folder + file).value_or("") + "\n";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder + "/fd", error)) {
    std::error_code gone;
    text += "\n" + fs::read_symlink(entry.path(), gone).string();
  }
  return text;
}

// Without the processes of these containers.
void find_users(std::vector<Leftover>& folders, const std::vector<EngineLeftover>& without) {
  if (folders.empty()) return;
  for (const int64_t pid : list_ids("/proc").value_or({})) {
    if (pid == getpid()) continue;
    if (names_one_of(read_file(proc_folder(pid) + "/cgroup").value_or(""), without)) continue;
    const std::string text = references_of(pid);
    for (Leftover& folder : folders) {  // by the last part, since a container has it elsewhere
      if (folder.used_by.empty() &&
          text.find(fs::path(folder.name).filename()) != std::string::npos)
        folder.used_by = name_of(pid);
    }
  }
}

Status remove_folder(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return {};
  return Error{Code::kIo, "cannot remove " + folder + ": " + error.message(), ""};
}

std::vector<Leftover> leftover_folders(const std::vector<EngineLeftover>& without) {
  std::vector<Leftover> folders;
  for (const char* kind : {"spool", "app", "simulate", "hold", "build", "python"})
    for (const std::string& folder : leftover_scratch_folders(kind))
      folders.push_back({folder, "", [folder] { return remove_folder(folder); }});
  find_users(folders, without);
  return folders;
}

bool is_own_and_old(const std::string& folder) {
  struct stat facts {};
  return lstat(folder.c_str(), &facts) == 0 && facts.st_uid == geteuid() &&
         time(nullptr) - facts.st_mtime > kYoungestSeconds;
}

}  // namespace

Leftovers find_leftovers() {
  Leftovers left;
  EngineLeftovers containers = leftovers_of_engine();  // first: their cgroups are below ours
  left.failed = std::move(containers.failed);
  for (const std::string& cgroup : leftover_cgroups())
    left.found.push_back({cgroup, user_of_cgroup(cgroup, containers.found),
                          [cgroup] { return remove_cgroup(cgroup); }});
  for (Leftover& folder : leftover_folders(containers.found))
    left.found.push_back(std::move(folder));
  for (auto one = containers.found.rbegin(); one != containers.found.rend(); ++one)
    left.found.insert(left.found.begin(), {std::move(one->what), "", std::move(one->remove)});
  return left;
}

void remove_leftovers_of_killed_recorders() {
  std::vector<Leftover> left = leftover_folders({});
  for (const std::string& cgroup : leftover_cgroups_nearby())
    left.push_back(
        {cgroup, user_of_cgroup(cgroup, {}), [cgroup] { return remove_cgroup(cgroup); }});
  for (const Leftover& one : left) {
    if (!one.used_by.empty() || !is_own_and_old(one.name)) continue;
    const Status removed = one.remove();
    log_debug("{}, left by a killed recorder: {}", one.name,
              removed.ok() ? "removed" : removed.error().message);
  }
}

}  // namespace fathom
