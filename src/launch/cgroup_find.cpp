// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/fd.h"
#include "base/proc.h"
#include "launch/cgroup.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

bool is_cgroup(const std::string& folder) {
  return !folder.empty() && access((folder + "/cgroup.procs").c_str(), F_OK) == 0;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

Error no_such_cgroup(const std::string& name) {
  return Error{Code::kNotFound, "there is no cgroup " + name,
               "cat /proc/PID/cgroup shows the path of a process's; --cgroup PID takes it as well"};
}

// The path below the mount of a tree, of a folder in it or of one given from the root.
std::string path_in_tree(const CgroupPlaces& roots, const std::string& name) {
  std::string clean = fs::path(name.starts_with('/') ? name : "/" + name).lexically_normal();
  for (const std::string* root :
       {&roots.unified, &roots.memory, &roots.cpuacct, &roots.perf_event}) {
    if (root->empty() || !is_cgroup(clean)) continue;
    if (clean == *root || clean.starts_with(*root + "/")) return clean.substr(root->size());
  }
  return clean;
}

std::string leaf(const std::string& root, const std::string& path) {
  std::string folder = root + path;
  while (folder.ends_with('/')) folder.pop_back();
  return !root.empty() && is_cgroup(folder) ? folder : std::string();
}

bool has(const std::string& folder, const char* file) {
  return !folder.empty() && access((folder + file).c_str(), F_OK) == 0;
}

void add_processes(const std::string& folder, std::vector<int64_t>& pids) {
  std::string text = read_file(folder + "/cgroup.procs").value_or("");
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (const int64_t pid : parse_numbers(text)) pids.push_back(pid);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error) && !entry.is_symlink(error)) add_processes(entry.path(), pids);
  }
}

}  // namespace

// Everybody at the root of every tree; where only a part of a tree is mounted, at that.
CgroupPlaces CgroupPlaces::roots(std::string_view mountinfo) {
  CgroupPlaces roots;
  while (!mountinfo.empty()) {
    const std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(std::min(line.size() + 1, mountinfo.size()));
    size_t at = 0;
    for (int field = 0; field < 3 && at != std::string_view::npos; ++field)
      at = line.find(' ', at + 1);
    if (at == std::string_view::npos) continue;
    const std::string root(line.substr(at + 1, line.find(' ', at + 1) - at - 1));
    std::string everywhere;
    for (const char* tree : {"0::", "1:memory:", "2:cpuacct:", "3:perf_event:", "4:cpu:"})
      everywhere.append(tree).append(root).append("\n");
    const CgroupPlaces one = parse(line, everywhere);
    if (roots.unified.empty()) roots.unified = one.unified;
    if (roots.memory.empty()) roots.memory = one.memory;
    if (roots.cpuacct.empty()) roots.cpuacct = one.cpuacct;
    if (roots.perf_event.empty()) roots.perf_event = one.perf_event;
    if (roots.cpu.empty()) roots.cpu = one.cpu;
  }
  return roots;
}

Result<Cgroup> Cgroup::find(const std::string& name) {
  TRY_ASSIGN(const std::string mounts, read_file("/proc/self/mountinfo"));
  if (!is_number(name)) return find_in(CgroupPlaces::roots(mounts), name);
  const auto theirs = read_file("/proc/" + name + "/cgroup");
  if (!theirs.ok())
    return Error{Code::kNotFound, "there is no process " + name, "ps -e lists them"};
  const CgroupPlaces places = CgroupPlaces::parse(mounts, theirs.value());
  Cgroup cgroup;
  cgroup.unified_ = leaf(places.unified, "");
  cgroup.memory_ = leaf(places.memory, "");
  cgroup.cpuacct_ = leaf(places.cpuacct, "");
  cgroup.perf_event_ = places.perf_event.empty() ? cgroup.unified_ : leaf(places.perf_event, "");
  cgroup.cpu_ = has(cgroup.unified_, "/cpu.max") ? cgroup.unified_ : leaf(places.cpu, "");
  cgroup.unified_has_memory_ = has(cgroup.unified_, "/memory.current");
  if (cgroup.any_folder().empty()) return no_such_cgroup("of process " + name);
  return cgroup;
}

Result<Cgroup> Cgroup::find_container(int64_t pid, const std::string& id) {
  TRY_ASSIGN(Cgroup cgroup, find(std::to_string(pid)));
  for (std::string* folder :
       {&cgroup.unified_, &cgroup.memory_, &cgroup.cpuacct_, &cgroup.perf_event_})
    *folder = container_folder(*folder, id);
  cgroup.add_limited(pid, id);
  return cgroup;
}

Result<Cgroup> Cgroup::find_in(const CgroupPlaces& roots, const std::string& name) {
  if (name.empty()) return no_such_cgroup("without a name");
  const std::string path = path_in_tree(roots, name);
  Cgroup cgroup;
  cgroup.unified_ = leaf(roots.unified, path);
  cgroup.memory_ = leaf(roots.memory, path);
  cgroup.cpuacct_ = leaf(roots.cpuacct, path);
  cgroup.perf_event_ = roots.perf_event.empty() ? cgroup.unified_ : leaf(roots.perf_event, path);
  cgroup.cpu_ = has(cgroup.unified_, "/cpu.max") ? cgroup.unified_ : leaf(roots.cpu, path);
  cgroup.unified_has_memory_ = has(cgroup.unified_, "/memory.current");
  if (cgroup.any_folder().empty()) return no_such_cgroup(name);
  return cgroup;
}

const std::string& Cgroup::any_folder() const {
  if (!unified_.empty()) return unified_;
  return memory_.empty() ? cpuacct_ : memory_;
}

std::vector<int64_t> Cgroup::processes() const {
  std::vector<int64_t> pids;
  for (const std::string* folder : {&unified_, &memory_, &cpuacct_}) {
    if (pids.empty() && !folder->empty()) add_processes(*folder, pids);
  }
  return pids;
}

}  // namespace fathom
