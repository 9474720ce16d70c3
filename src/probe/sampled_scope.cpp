// SPDX-License-Identifier: Apache-2.0
#include "probe/sampled_scope.h"

#include <fcntl.h>

#include "base/proc.h"

namespace fathom {
namespace {

// Whether the kernel lets us sample a cgroup: one try on any CPU.
bool may_open(int cgroup_fd) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.disabled = 1;
  return open_cgroup_perf_event(attr, cgroup_fd, 0).ok();
}

}  // namespace

SampledScope SampledScope::of(const Target& target) {
  SampledScope scope;
  if (target.cgroup() != nullptr && !target.cgroup()->unified().empty()) {
    auto folder = open_file(target.cgroup()->unified(), O_RDONLY | O_DIRECTORY);
    if (folder.ok() && may_open(folder.value().get())) {
      scope.cgroup_ = std::move(folder).value();
      return scope;
    }
  }
  return of_tasks(target);
}

SampledScope SampledScope::of_tasks(const Target& target) {
  SampledScope scope;
  if (target.scope().kind == Scope::Kind::kSystem) return scope;
  scope.target_ = &target;
  for (const int64_t pid : processes_in(target)) {
    const auto threads = list_ids(proc_folder(pid) + "/task");
    if (threads.ok())
      scope.threads_.insert(scope.threads_.end(), threads.value().begin(), threads.value().end());
  }
  return scope;
}

SampledScope SampledScope::of_thread(int64_t tid) {
  SampledScope scope;
  scope.threads_.push_back(tid);
  return scope;
}

std::vector<PerfPlace> SampledScope::places() const {
  if (cgroup_.valid()) return {{cgroup_.get(), PERF_FLAG_PID_CGROUP}};
  if (threads_.empty()) return {{}};
  std::vector<PerfPlace> places;
  for (const int64_t thread : threads_) places.push_back({static_cast<pid_t>(thread), 0});
  return places;
}

std::vector<int64_t> SampledScope::processes() const {
  return target_ != nullptr ? processes_in(*target_) : threads_;
}

const char* SampledScope::name() const {
  if (cgroup_.valid()) return "cgroup";
  return threads_.empty() ? "system" : "tree";
}

Result<std::vector<Fd>> SampledScope::open(perf_event_attr attr, int cpu) const {
  std::vector<Fd> events;
  if (cgroup_.valid() || threads_.empty()) {
    TRY_ASSIGN(Fd event, cgroup_.valid() ? open_cgroup_perf_event(attr, cgroup_.get(), cpu)
                                         : open_perf_event(attr, -1, cpu));
    events.push_back(std::move(event));
    return events;
  }
  attr.inherit = 1;
  Error last;
  for (const int64_t thread : threads_) {
    auto event = open_perf_event(attr, static_cast<pid_t>(thread), cpu);
    if (event.ok())
      events.push_back(std::move(event).value());
    else
      last = std::move(event).error();
  }
  if (events.empty()) return last;
  return events;
}

}  // namespace fathom
