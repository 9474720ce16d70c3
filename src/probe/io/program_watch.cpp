// SPDX-License-Identifier: Apache-2.0
#include "probe/io/program_watch.h"

#include <utility>

namespace fathom {
namespace {

// A program makes some ten records of a hundred bytes.
constexpr size_t kRingBytes = size_t{128} << 10;
constexpr size_t kLeastRingBytes = size_t{16} << 10;

void add_map(const std::string& path, ExecutedProgram& program) {
  const std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
  if (!path.starts_with('/') || path.starts_with("//")) return;  // the kernel's own, or no file
  if (program.path.empty())
    program.path = path;
  else if (file.starts_with("ld-"))
    program.has_loader = true;
  else if (file.starts_with("libfathom-io"))
    program.has_ours = true;
  else if (file.find(".so") != std::string_view::npos)
    program.has_libraries = true;
}

}  // namespace

Result<std::unique_ptr<ProgramWatch>> ProgramWatch::open(const Target& target) {
  // Not of a container's cgroup, into which its engine brings programs of its own.
  TRY_ASSIGN(EventRings rings,
             EventRings::open(SampledScope::of_tasks(target), kRingBytes, kLeastRingBytes));
  return std::unique_ptr<ProgramWatch>(new ProgramWatch(std::move(rings)));
}

ProgramWatch::ProgramWatch(EventRings rings) : rings_(std::move(rings)) {
  for (EventRings::Ring& ring : rings_.rings()) {
    streams_.push_back(std::make_unique<ChangeStream>(rings_, ring));
    order_.push_back(streams_.back().get());
  }
}

void ProgramWatch::on_change(const TaskChange& change) {
  using Kind = TaskChange::Kind;
  if (change.kind == Kind::kExec) {
    end(change.pid);
    ExecutedProgram& program = running_[change.pid];
    program.pid = change.pid;
    program.name = change.name;
  } else if (change.kind == Kind::kExit && change.pid == change.tid) {
    end(change.pid);
  } else if (const auto at = running_.find(change.pid);
             change.kind == Kind::kMap && at != running_.end()) {
    add_map(change.map.path, at->second);
  }
}

void ProgramWatch::end(int64_t pid) {
  const auto at = running_.find(pid);
  if (at == running_.end()) return;
  ended_.push_back(std::move(at->second));
  running_.erase(at);
}

std::vector<ExecutedProgram> ProgramWatch::ended(int64_t until_ns) {
  merge_streams(order_, *this, until_ns);
  if (rings_.lost() != std::exchange(lost_, rings_.lost())) {
    running_.clear();
    ended_.clear();
  }
  return std::exchange(ended_, {});
}

std::vector<ExecutedProgram> ProgramWatch::rest() {
  std::vector<ExecutedProgram> programs = ended(INT64_MAX);
  for (auto& [pid, program] : std::exchange(running_, {})) programs.push_back(std::move(program));
  return programs;
}

}  // namespace fathom
