// SPDX-License-Identifier: Apache-2.0
#include "launch/namespace_ids.h"

#include <sys/stat.h>

#include "base/fd.h"
#include "base/proc.h"

namespace fathom {

std::optional<int64_t> parse_innermost_id(std::string_view status) {
  const size_t at = status.find("\nNSpid:");
  if (at == std::string_view::npos) return std::nullopt;
  std::string line(status.substr(at + 7, status.find('\n', at + 1) - at - 7));
  for (char& byte : line)
    if (byte == '\t') byte = ' ';
  const auto ids = parse_numbers(line);
  return ids.empty() ? std::nullopt : std::optional(ids.back());
}

uint64_t pid_namespace_of(const std::string& proc_folder) {
  struct stat status {};
  return stat((proc_folder + "/ns/pid").c_str(), &status) == 0 ? status.st_ino : 0;
}

void NamespaceIds::take_in(int64_t pid, uint64_t pid_namespace) {
  const std::string folder = proc_folder(pid);
  const auto inner = parse_innermost_id(read_file(folder + "/status").value_or(""));
  if (inner) processes_[{pid_namespace, *inner}] = pid;
  for (const int64_t tid : list_ids(folder + "/task").value_or({})) {
    const auto own = parse_innermost_id(read_file(proc_folder(pid, tid) + "/status").value_or(""));
    if (own) threads_[{pid_namespace, *own}] = tid;
  }
}

void NamespaceIds::look() {
  if (target_ == nullptr || target_->scope().reaped) return;
  const uint64_t here = pid_namespace_of("/proc/self");
  for (const int64_t pid : processes_in(*target_)) {
    const uint64_t there = pid_namespace_of(proc_folder(pid));
    if (there != 0 && there != here) take_in(pid, there);
  }
}

int64_t NamespaceIds::find(const std::map<Key, int64_t>& known, const Key& key) {
  if (target_ == nullptr || target_->scope().reaped || key.first == 0) return key.second;
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  ++unknown_;
  return key.second;
}

std::string NamespaceIds::missing() const {
  if (unknown_ == 0) return {};
  return "processes that ended at once have the ids they had inside the container";
}

int64_t NamespaceIds::process(uint64_t pid_namespace, int64_t pid) {
  return find(processes_, {pid_namespace, pid});
}

int64_t NamespaceIds::thread(uint64_t pid_namespace, int64_t tid) {
  return find(threads_, {pid_namespace, tid});
}

}  // namespace fathom
