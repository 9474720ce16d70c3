// SPDX-License-Identifier: Apache-2.0
#include "launch/cgroup.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <set>

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
  const std::string folder = "/proc/" + std::to_string(pid);
  std::error_code error;
  const fs::path program = fs::read_symlink(folder + "/exe", error);
  // By its program, for it may run under another name. Of another user's the program is unknown.
  if (!error) return program.filename().string().starts_with("fathom");
  return access(folder.c_str(), F_OK) == 0;
}

// Engines make cgroups in all of them.
std::vector<std::string> all_cgroup_mounts() {
  std::vector<std::string> mounts;
  const std::string text = read_file("/proc/self/mountinfo").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const size_t dash = line.find(" - cgroup");
    const auto fields = split(line.substr(0, dash), ' ');
    if (dash != std::string_view::npos && fields.size() > 4) mounts.emplace_back(fields[4]);
  }
  return mounts;
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
      for (const auto& [name, place] :
           {std::pair("perf_event", &places.perf_event), std::pair("cpu", &places.cpu),
            std::pair("pids", &places.pids), std::pair("blkio", &places.blkio)}) {
        if (has_word(type[2], name) && has_word(controllers, name)) keep_first(*place, folder);
      }
    }
  }
  return places;
}

Result<CgroupPlaces> CgroupPlaces::find() {
  TRY_ASSIGN(const std::string mounts, read_file("/proc/self/mountinfo"));
  TRY_ASSIGN(const std::string own, read_file("/proc/self/cgroup"));
  return parse(mounts, own);
}

Result<Cgroup> Cgroup::create(const std::string& run_label, bool figures) {
  TRY_ASSIGN(CgroupPlaces places, CgroupPlaces::find());
  if (!figures) places.memory = places.cpuacct = "";
  return create_in(places, std::string(kCgroupPrefix) + run_label + "-" + std::to_string(getpid()));
}

Result<Cgroup> Cgroup::create_in(const CgroupPlaces& places, const std::string& name) {
  Cgroup cgroup;
  cgroup.unified_ = make_unified_leaf(places, name);
  cgroup.memory_ = make_leaf(places.memory, name);
  cgroup.cpuacct_ = make_leaf(places.cpuacct, name);
  cgroup.ours_ = true;
  if (places.perf_event.empty()) cgroup.perf_event_ = cgroup.unified_;
  if (cgroup.unified_.empty() && cgroup.memory_.empty() && cgroup.cpuacct_.empty()) {
    return Error{
        Code::kPermission, "no cgroup can be made here",
        geteuid() == 0
            ? "in a container: docker run --privileged --cgroupns host, or run fathom on the host"
            : "systemd-run --user --scope -p Delegate=yes fathom run -- COMMAND (or run as root)"};
  }
  return cgroup;
}

Result<Cgroup> Cgroup::create_above_containers(const std::string& run_label) {
  TRY_ASSIGN(const std::string mounts, read_file("/proc/self/mountinfo"));
  const std::string name = std::string(kCgroupPrefix) + run_label + "-" + std::to_string(getpid());
  TRY_ASSIGN(Cgroup cgroup, create_in(CgroupPlaces::roots(mounts), name));
  cgroup.path_ = "/" + name;
  return cgroup;
}

Result<Cgroup> Cgroup::create_below(const std::string& name) const {
  Cgroup cgroup;
  cgroup.unified_ = make_leaf(unified_, name);
  cgroup.memory_ = make_leaf(memory_, name);
  cgroup.cpuacct_ = make_leaf(cpuacct_, name);
  if (perf_event_ == unified_) cgroup.perf_event_ = cgroup.unified_;
  cgroup.path_ = path_ + "/" + name;
  cgroup.ours_ = true;
  if (cgroup.any_folder().empty()) return errno_error("make cgroup " + cgroup.path_);
  return cgroup;
}

std::string container_folder(const std::string& folder, const std::string& id) {
  const size_t at = id.empty() ? std::string::npos : folder.find(id);
  return at == std::string::npos ? folder : folder.substr(0, folder.find('/', at));
}

void Cgroup::add_limited(int64_t pid, const std::string& id) {
  const auto mounts = read_file("/proc/self/mountinfo");
  const auto theirs = read_file("/proc/" + std::to_string(pid) + "/cgroup");
  if (!mounts.ok() || !theirs.ok()) return;
  CgroupPlaces leaf = CgroupPlaces::parse(mounts.value(), theirs.value());
  for (std::string* folder : {&leaf.unified, &leaf.cpu, &leaf.memory, &leaf.pids, &leaf.blkio})
    *folder = container_folder(*folder, id);
  const auto has = [](const std::string& folder, const char* file) {
    return !folder.empty() && access((folder + file).c_str(), F_OK) == 0;
  };
  const bool one_tree = has(leaf.unified, "/cpu.max") || has(leaf.unified, "/memory.current");
  // Below a cgroup of ours these are its own sums; else the container's.
  const auto sums = [this](const std::string& folder) -> std::string {
    const size_t ours = path_.empty() ? std::string::npos : folder.find(path_ + "/");
    return folder.substr(0, ours == std::string::npos ? ours : ours + path_.size());
  };
  const std::string memory = one_tree ? leaf.unified : leaf.memory;
  const std::string above = sums(memory);
  limited_.push_back({one_tree ? leaf.unified : leaf.cpu, memory,
                      above != memory && has(above + "/conmon", "/cgroup.procs")});
  pids_ = one_tree ? sums(leaf.unified) : sums(leaf.pids);
  blkio_ = one_tree ? std::string() : sums(leaf.blkio);
}

// In version 2 they are in the leaf, whose limits hold; the leaf itself has none.
void Cgroup::limit_by_recorder() {
  const auto places = CgroupPlaces::find();
  if (!places.ok()) return;
  const bool one_tree = access((unified_ + "/cpu.stat").c_str(), F_OK) == 0 &&
                        access((places.value().unified + "/cpu.max").c_str(), F_OK) == 0;
  limited_.push_back({one_tree ? unified_ : places.value().cpu, "", false, !one_tree});
}

void remove_in_all_trees(const std::string& path) {
  for (const std::string& mount : all_cgroup_mounts()) {
    const std::string folder = mount + path;
    if (access(folder.c_str(), F_OK) == 0) (void)remove_cgroup(folder);
  }
}

namespace {

// The kernel waits here until all CPUs have seen it: some 10 ms, whatever is added next.
Status add_to(const std::string& leaf, int64_t pid) {
  return leaf.empty() ? Status() : write_file(leaf + "/cgroup.procs", std::to_string(pid));
}

}  // namespace

Status Cgroup::add(int64_t pid) const {
  TRY(add_to(unified_, pid));
  return add_to_others(pid);
}

Status Cgroup::add_to_others(int64_t pid) const {
  TRY(add_to(memory_, pid));
  return add_to(cpuacct_, pid);
}

void Cgroup::remove() {
  for (std::string* leaf : {&unified_, &memory_, &cpuacct_}) {
    if (!leaf->empty()) (void)remove_cgroup(*leaf);
    leaf->clear();
  }
  if (!path_.empty()) remove_in_all_trees(path_);
  path_.clear();
}

std::vector<std::string> leftover_cgroups() {
  std::vector<std::string> found;
  for (const std::string& mount : all_cgroup_mounts()) {
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

std::vector<std::string> leftover_cgroups_nearby() {
  std::set<std::string> parents;
  if (const auto places = CgroupPlaces::find(); places.ok()) {
    const CgroupPlaces& own = places.value();
    parents = {own.unified, fs::path(own.unified).parent_path(), own.memory, own.cpuacct};
  }
  const CgroupPlaces roots = CgroupPlaces::roots(read_file("/proc/self/mountinfo").value_or(""));
  parents.insert({roots.unified, roots.memory, roots.cpuacct});
  std::vector<std::string> found;
  for (const std::string& parent : parents) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(parent, error)) {
      const std::string name = entry.path().filename();
      if (is_leaf_name(name) && !recorder_lives(name)) found.push_back(entry.path());
    }
  }
  return found;
}

namespace {

Status remove_one(const std::string& folder) {
  std::string refuge;  // of who still runs there, which is seldom
  for (int attempt = 0; attempt < kMostAttempts && rmdir(folder.c_str()) != 0; ++attempt) {
    if (errno == ENOENT) return {};
    if (attempt > 1) usleep(kPatienceUs);  // one that is dying cannot be moved and is gone soon
    TRY_ASSIGN(const std::string pids, read_file(folder + "/cgroup.procs"));
    if (refuge.empty() && !pids.empty()) refuge = own_place_beside(folder);
    for (const std::string_view pid : split(pids, '\n'))
      (void)write_file(refuge + "/cgroup.procs", pid);
  }
  if (access(folder.c_str(), F_OK) == 0) return errno_error("remove " + folder, EBUSY);
  return {};
}

}  // namespace

// With what others made in it, as container engines do: the deepest first.
Status remove_cgroup(const std::string& folder) {
  std::vector<std::string> inner;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
    if (entry->is_directory(error)) inner.push_back(entry->path());
  for (auto at = inner.rbegin(); at != inner.rend(); ++at) (void)remove_one(*at);
  return remove_one(folder);
}

}  // namespace fathom
