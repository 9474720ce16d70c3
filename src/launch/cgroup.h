// SPDX-License-Identifier: Apache-2.0
// A cgroup of the run's own, on version 2, version 1 and hybrid hosts: a leaf in the unified tree,
// and leaves in the version-1 memory and cpuacct trees where those are mounted. Figures of a cgroup
// are exact for its whole tree, whoever reaps whom. Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

constexpr std::string_view kCgroupPrefix = "fathom-";

// Where the trees are mounted and where this process stands in them; empty: not there.
struct CgroupPlaces {
  std::string unified;  // folder of our own cgroup in the v2 tree
  std::string memory;   // the same in v1
  std::string cpuacct;
  std::vector<std::string> mounts{};   // of those trees
  std::string perf_event{};            // in v1, where that tree is mounted
  std::string cpu{}, pids{}, blkio{};  // the same

  static CgroupPlaces parse(std::string_view mountinfo, std::string_view own_cgroups);
  // Where the trees are mounted, whoever stands where in them.
  static CgroupPlaces roots(std::string_view mountinfo);
  static Result<CgroupPlaces> find();
};

class Cgroup {
 public:
  // Makes the leaves, named after the label and this process; those that may not be made are left
  // out, and so are those of version 1 where nobody reads figures. kPermission if there is none.
  static Result<Cgroup> create(const std::string& run_label, bool figures = true);
  static Result<Cgroup> create_in(const CgroupPlaces& places, const std::string& name);
  // At the root of the trees, for a container engine to put a container below: what is counted here
  // stays when the engine removes its own.
  static Result<Cgroup> create_above_containers(const std::string& run_label);

  // One of ours below one of ours.
  [[nodiscard]] Result<Cgroup> create_below(const std::string& name) const;

  // One that exists and is not ours to remove: by its folder in any tree, by its path from the
  // root, or by the id of a process in it. Leaves of the same path in the other trees belong to it.
  static Result<Cgroup> find(const std::string& name);
  static Result<Cgroup> find_in(const CgroupPlaces& roots, const std::string& name);
  // The cgroup that an engine made for the container with this id, with every cgroup below it: its
  // first process may be in a nested one ("libpod-ID/container", "ID/init.scope").
  static Result<Cgroup> find_container(int64_t pid, const std::string& id);

  Status add(int64_t pid) const;
  // The same of one that was born in the unified leaf.
  Status add_to_others(int64_t pid) const;
  // Moves what still runs there back to the parent and removes the leaves.
  void remove();

  // Folders of the leaves; empty: none.
  [[nodiscard]] const std::string& unified() const { return unified_; }
  [[nodiscard]] const std::string& memory() const { return memory_; }
  [[nodiscard]] const std::string& cpuacct() const { return cpuacct_; }
  // Where perf_event_open(2) wants it: a descriptor of this folder, with PERF_FLAG_PID_CGROUP.
  [[nodiscard]] const std::string& perf_event() const { return perf_event_; }
  [[nodiscard]] const std::string& any_folder() const;
  // Its path from the root of the trees, of one made by create_above_containers.
  [[nodiscard]] const std::string& path() const { return path_; }

  // Where the engine put a container's process: whose limits it is under. Some figures are not
  // added up from there. `id` is the container's; without one, the cgroup of the process is used.
  void add_limited(int64_t pid, const std::string& id = "");
  struct Limited {
    std::string cpu, memory;  // folders with cpu.stat and memory.events or their like; empty: none
    // The engine keeps a process of its own (conmon) in the cgroup above, so that the sums there
    // are not the container's alone.
    bool shared = false;
    // The cgroup is not the target's: those below it belong to other programs.
    bool of_recorder = false;
  };
  [[nodiscard]] const std::vector<Limited>& limited() const { return limited_; }
  // The same of one that was found by its name.
  void limit_by_itself() { limited_.push_back({cpu_, unified_has_memory_ ? unified_ : memory_}); }
  // Its processes stay in the CPU cgroup of this recorder, whose limits hold for them.
  void limit_by_recorder();
  // Made by this recorder: counters begin with the run and may be reset.
  [[nodiscard]] bool is_ours() const { return ours_; }
  [[nodiscard]] const std::string& pids() const { return pids_; }
  [[nodiscard]] const std::string& blkio() const { return blkio_; }
  // Whoever is there or in a cgroup below.
  [[nodiscard]] std::vector<int64_t> processes() const;

 private:
  std::string unified_, memory_, cpuacct_, perf_event_;
  std::string path_, pids_, blkio_;
  std::vector<Limited> limited_;
  std::string cpu_;  // with cpu.stat, of one that was found
  bool ours_ = false, unified_has_memory_ = false;
};

// `folder` up to the part of its path that contains the id of a container; all of it if none does.
std::string container_folder(const std::string& folder, const std::string& id);

// Removes what an engine made of this path, in whatever trees there are.
void remove_in_all_trees(const std::string& path);

// Leaves of runs whose recorder is gone, anywhere in the trees.
std::vector<std::string> leftover_cgroups();
// Those where create() and create_above_containers() would make one now: cheap.
std::vector<std::string> leftover_cgroups_nearby();
// Moves what runs there to our own cgroup and removes it.
Status remove_cgroup(const std::string& folder);

}  // namespace fathom
