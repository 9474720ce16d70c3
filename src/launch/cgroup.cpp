// SPDX-License-Identifier: Apache-2.0
#include "launch/cgroup.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "base/fd.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr int kMostAttempts = 100;
constexpr useconds_t kPatienceUs = 2000;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

bool has_word(std::string_view list, std::string_view word) {
  for (const std::string_view part : split(list, ',')) {
    if (part == word) return true;
  }
  return false;
}

// The folder of `path` in a tree whose `root` is mounted at `mount`; empty if it lies outside.
std::string folder_in(std::string_view mount, std::string_view root, std::string_view path) {
  if (root != "/") {
    if (!path.starts_with(root)) return {};
    path.remove_prefix(root.size());
    if (!path.empty() && path[0] != '/') return {};  // a namesake: /a/bc is not below /a/b
  }
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(mount) + std::string(path);
}

// Limits a sibling leaf would escape.
bool has_limits(const std::string& folder) {
  for (const char* file : {"/memory.max", "/cpu.max", "/pids.max", "/memory.high"}) {
    const auto text = read_file(folder + file);
    if (text.ok() && !text.value().starts_with("max")) return true;
  }
  return false;
}

std::string make_leaf(const std::string& parent, const std::string& name) {
  if (parent.empty()) return {};
  const std::string folder = parent + "/" + name;
  return mkdir(folder.c_str(), 0755) == 0 ? folder : std::string();
}

// A v2 cgroup with processes cannot give its children controllers, so a sibling is the better
// place, unless the target would escape limits there.
std::string make_unified_leaf(const CgroupPlaces& places, const std::string& name) {
  if (places.unified.empty()) return {};
  const std::string parent = fs::path(places.unified).parent_path();
  if (access((parent + "/cgroup.procs").c_str(), F_OK) == 0 && !has_limits(places.unified)) {
    if (std::string leaf = make_leaf(parent, name); !leaf.empty()) return leaf;
  }
  return make_leaf(places.unified, name);
}

// fathom-RUNID-PID, as create() names them.
bool is_leaf_name(std::string_view name) {
  if (!name.starts_with(kCgroupPrefix)) return false;
  name.remove_prefix(kCgroupPrefix.size());
  const bool doctor = name.starts_with("doctor-");
  const bool run =
      name.size() > 25 && name[8] == 'T' && name[15] == 'Z' && name[16] == '-' && name[25] == '-';
  return doctor || run;
}

// Our own cgroup in the tree that `folder` is in: where processes may be, unlike in a parent that
// hands controllers down. The parent, where we are not in that tree.
std::string own_place_beside(const std::string& folder) {
  struct stat there {};
  const auto places = CgroupPlaces::find();
  if (places.ok() && stat(folder.c_str(), &there) == 0) {
    for (const std::string* own :
         {&places.value().unified, &places.value().memory, &places.value().cpuacct}) {
      struct stat here {};
      if (!own->empty() && stat(own->c_str(), &here) == 0 && here.st_dev == there.st_dev)
        return *own;
    }
  }
  return fs::path(folder).parent_path();
}

bool recorder_lives(std::string_view leaf_name) {
  const size_t dash = leaf_name.rfind('-');
  int64_t pid = 0;
  const std::string_view digits = leaf_name.substr(dash + 1);
  if (std::from_chars(digits.data(), digits.data() + digits.size(), pid).ec != std::errc())
    return true;
  const auto name = read_file("/proc/" + std::to_string(pid) + "/comm");
  return name.ok() && name.value().starts_with("fathom");
}

// A hierarchy may be mounted in other places, too: the first is the system's own.
void keep_first(std::string& place, const std::string& found) {
  if (place.empty()) place = found;
}

}  // namespace

CgroupPlaces CgroupPlaces::parse(std::string_view mountinfo, std::string_view own_cgroups) {
  CgroupPlaces places;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto fields = split(line.substr(0, dash), ' ');
    const auto type = split(line.substr(dash + 3), ' ');
    if (fields.size() < 5 || type.size() < 3) continue;
    for (const std::string_view own : split(own_cgroups, '\n')) {
      const size_t first = own.find(':');
      const size_t second = own.find(':', first + 1);
      if (first == std::string_view::npos || second == std::string_view::npos) continue;
      const std::string_view controllers = own.substr(first + 1, second - first - 1);
      const std::string folder = folder_in(fields[4], fields[3], own.substr(second + 1));
      if (type[0] == "cgroup2" && controllers.empty()) {
        keep_first(places.unified, folder);
        places.mounts.emplace_back(fields[4]);
      }
      if (type[0] != "cgroup") continue;
      if (has_word(type[2], "memory") && has_word(controllers, "memory")) {
        keep_first(places.memory, folder);
        places.mounts.emplace_back(fields[4]);
      }
      if (has_word(type[2], "cpuacct") && has_word(controllers, "cpuacct")) {
        keep_first(places.cpuacct, folder);
        places.mounts.emplace_back(fields[4]);
      }
      if (has_word(type[2], "perf_event") && has_word(controllers, "perf_event"))
        keep_first(places.perf_event, folder);
    }
  }
  return places;
}

Result<CgroupPlaces> CgroupPlaces::find() {
  TRY_ASSIGN(const std::string mounts, read_file("/proc/self/mountinfo"));
  TRY_ASSIGN(const std::string own, read_file("/proc/self/cgroup"));
  return parse(mounts, own);
}

Result<Cgroup> Cgroup::create(const std::string& run_label) {
  TRY_ASSIGN(const CgroupPlaces places, CgroupPlaces::find());
  return create_in(places, std::string(kCgroupPrefix) + run_label + "-" + std::to_string(getpid()));
}

Result<Cgroup> Cgroup::create_in(const CgroupPlaces& places, const std::string& name) {
  Cgroup cgroup;
  cgroup.unified_ = make_unified_leaf(places, name);
  cgroup.memory_ = make_leaf(places.memory, name);
  cgroup.cpuacct_ = make_leaf(places.cpuacct, name);
  if (places.perf_event.empty()) cgroup.perf_event_ = cgroup.unified_;
  if (cgroup.unified_.empty() && cgroup.memory_.empty() && cgroup.cpuacct_.empty()) {
    return Error{
        Code::kPermission, "no cgroup can be made here",
        "systemd-run --user --scope -p Delegate=yes fathom run -- COMMAND (or run as root)"};
  }
  return cgroup;
}

Status Cgroup::add(int64_t pid) const {
  for (const std::string* leaf : {&unified_, &memory_, &cpuacct_}) {
    if (!leaf->empty()) TRY(write_file(*leaf + "/cgroup.procs", std::to_string(pid)));
  }
  return {};
}

void Cgroup::remove() {
  for (std::string* leaf : {&unified_, &memory_, &cpuacct_}) {
    if (!leaf->empty()) (void)remove_cgroup(*leaf);
    leaf->clear();
  }
}

std::vector<std::string> leftover_cgroups() {
  std::vector<std::string> found;
  const auto places = CgroupPlaces::find();
  if (!places.ok()) return found;
  for (const std::string& mount : places.value().mounts) {
    std::error_code error;
    fs::recursive_directory_iterator entry(mount, fs::directory_options::skip_permission_denied,
                                           error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename();
      if (is_leaf_name(name) && !recorder_lives(name)) found.push_back(entry->path());
    }
  }
  return found;
}

Status remove_cgroup(const std::string& folder) {
  const std::string refuge = own_place_beside(folder);
  for (int attempt = 0; attempt < kMostAttempts && rmdir(folder.c_str()) != 0; ++attempt) {
    if (errno == ENOENT) return {};
    if (attempt > 1) usleep(kPatienceUs);  // one that is dying cannot be moved and is gone soon
    TRY_ASSIGN(const std::string pids, read_file(folder + "/cgroup.procs"));
    for (const std::string_view pid : split(pids, '\n'))
      (void)write_file(refuge + "/cgroup.procs", pid);
  }
  if (access(folder.c_str(), F_OK) == 0) return errno_error("remove " + folder, EBUSY);
  return {};
}

}  // namespace fathom
