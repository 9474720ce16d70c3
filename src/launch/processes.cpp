// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <unordered_map>
#include <unordered_set>

#include "base/fd.h"
#include "base/proc.h"
#include "launch/launcher.h"

namespace fathom {
namespace {

// A listing of pids without those that are no process of the target.
class Listing {
 public:
  // False: it was there before, or is left out.
  bool add(int64_t pid) {
    if (pid <= 0 || pid == own_ || !known_.insert(pid).second) return false;
    pids_.push_back(pid);
    return true;
  }
  std::vector<int64_t> take() { return std::move(pids_); }

 private:
  int64_t own_ = getpid();
  std::unordered_set<int64_t> known_;
  std::vector<int64_t> pids_;
};

std::vector<int64_t> all_processes(Listing& listing) {
  for (const int64_t pid : list_ids("/proc").value_or({})) {
    const auto stat = read_proc_stat(proc_folder(pid));
    if (stat.ok() && !stat.value().is_kernel_thread) listing.add(pid);
  }
  return listing.take();
}

using Children = std::unordered_map<int64_t, std::vector<int64_t>>;

// For kernels that have no list of a thread's children.
Children children_by_parent() {
  Children children;
  for (const int64_t pid : list_ids("/proc").value_or({})) {
    const auto stat = read_proc_stat(proc_folder(pid));
    if (stat.ok()) children[stat.value().ppid].push_back(pid);
  }
  return children;
}

void add_below(int64_t pid, std::optional<Children>& scanned, Listing& listing) {
  if (!listing.add(pid)) return;
  for (const int64_t tid : list_ids(proc_folder(pid) + "/task").value_or({})) {
    auto children = read_proc_children(proc_folder(pid, tid));
    if (!children.ok() && children.error().code == Code::kUnsupported) {
      if (!scanned) scanned = children_by_parent();
      children = (*scanned)[pid];
    }
    for (const int64_t child : std::move(children).value_or({})) add_below(child, scanned, listing);
  }
}

}  // namespace

std::vector<int64_t> processes_in(const Target& target) {
  const Scope scope = target.scope();
  Listing listing;
  std::optional<Children> scanned;
  switch (scope.kind) {
    case Scope::Kind::kTree:
      for (const int64_t root : scope.roots) add_below(root, scanned, listing);
      return listing.take();
    case Scope::Kind::kCgroup:
      for (const int64_t pid : target.cgroup()->processes()) listing.add(pid);
      return listing.take();
    case Scope::Kind::kSystem:
      return all_processes(listing);
  }
  return {};
}

}  // namespace fathom
