// SPDX-License-Identifier: Apache-2.0
#include "launch/namespace_ids.h"

#include <sys/stat.h>

#include "base/fd.h"
#include "base/proc.h"

namespace fathom {
namespace {
constexpr size_t kMostUnknown = 65'536;
}

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

uint64_t own_pid_namespace() {
  static const uint64_t own = pid_namespace_of("/proc/self");
  return own;
}

void NamespaceIds::take_in(int64_t pid, uint64_t pid_namespace) {
  const std::string folder = proc_folder(pid);
  const auto inner = parse_innermost_id(read_file(folder + "/status").value_or(""));
  if (inner) target_->inner_ids().add_process({pid_namespace, *inner}, pid);
  for (const int64_t tid : list_ids(folder + "/task").value_or({})) {
    const auto own = parse_innermost_id(read_file(proc_folder(pid, tid) + "/status").value_or(""));
    if (own) target_->inner_ids().add_thread({pid_namespace, *own}, tid);
  }
}

void NamespaceIds::look() {
  if (target_ == nullptr || target_->scope().reaped) return;
  for (const int64_t pid : processes_in(*target_)) {
    const uint64_t there = pid_namespace_of(proc_folder(pid));
    if (there != 0 && there != own_pid_namespace()) take_in(pid, there);
  }
}

// One that has begun since the last tick may not have been told yet.
int64_t NamespaceIds::find(LookUp look_up, const InnerIds::Key& inside) {
  const auto [pid_namespace, told] = inside;
  if (target_ == nullptr || target_->scope().reaped || pid_namespace == 0 ||
      pid_namespace == own_pid_namespace())
    return told;
  const InnerIds& known = target_->inner_ids();
  if (const auto found = (known.*look_up)(inside)) return *found;
  if (unknown_.size() >= kMostUnknown || !unknown_.insert(inside).second) return told;
  known.learn();
  const auto found = (known.*look_up)(inside);
  if (found) unknown_.erase(inside);
  return found.value_or(told);
}

std::string NamespaceIds::missing() const {
  if (unknown_.empty()) return {};
  return "processes that ended at once have the ids they had inside the container";
}

int64_t NamespaceIds::process(uint64_t pid_namespace, int64_t pid) {
  return find(&InnerIds::process, {pid_namespace, pid});
}

int64_t NamespaceIds::thread(uint64_t pid_namespace, int64_t tid) {
  return find(&InnerIds::thread, {pid_namespace, tid});
}

}  // namespace fathom
