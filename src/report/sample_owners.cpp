// SPDX-License-Identifier: Apache-2.0
#include "report/sample_owners.h"

#include <algorithm>

namespace fathom {

SampleOwners::SampleOwners(const Collected& tables) : tables_(tables) {
  for (const Process& process : tables.rows.of<Process>()) lives_[process.pid].push_back(&process);
  for (auto& [pid, lives] : lives_) {
    std::stable_sort(lives.begin(), lives.end(),
                     [](const Process* a, const Process* b) { return a->start_ns < b->start_ns; });
  }
  for (const Thread& thread : tables.rows.of<Thread>()) threads_[thread.tid] = &thread;
}

const Process* SampleOwners::find(int64_t pid, int64_t time_ns) const {
  const auto found = lives_.find(pid);
  if (found == lives_.end()) return nullptr;
  const std::vector<const Process*>& lives = found->second;
  size_t last = 0;
  while (last + 1 < lives.size() && lives[last + 1]->start_ns <= time_ns) ++last;
  return lives[last];
}

std::string SampleOwners::process(int64_t pid, int64_t time_ns) const {
  const Process* process = find(pid, time_ns);
  if (process != nullptr && process->name != StringId::kNone) {
    const std::string_view name = tables_.text(process->name);
    return name == renamed_.first ? renamed_.second : std::string(name);
  }
  return "pid " + std::to_string(pid);
}

std::string SampleOwners::thread(const ThreadKey& key) const {
  const auto found = threads_.find(key.tid);
  if (found != threads_.end() && found->second->name != StringId::kNone)
    return std::string(tables_.text(found->second->name));
  // A first thread has its process's name.
  if (key.pid == key.tid) return process(key.pid, INT64_MAX);
  return "tid " + std::to_string(key.tid);
}

std::string SampleOwners::host(int64_t pid, int64_t time_ns) const {
  if (const Process* process = find(pid, time_ns); process && process->host != StringId::kNone)
    return std::string(tables_.text(process->host));
  const std::vector<Run>& runs = tables_.rows.of<Run>();
  const std::string_view host = runs.empty() ? "" : tables_.text(runs.front().host);
  return host.empty() ? "[host unknown]" : std::string(host);
}

std::string SampleOwners::rank(int64_t pid, int64_t time_ns) const {
  const Process* process = find(pid, time_ns);
  if (process == nullptr || !process->mpi_rank) return "[no rank]";
  return "rank " + std::to_string(*process->mpi_rank);
}

}  // namespace fathom
