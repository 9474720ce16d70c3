// SPDX-License-Identifier: Apache-2.0
#include "symbol/address_space.h"

#include "symbol/proc_maps.h"
#include "symbol/target_files.h"

namespace fathom {
namespace {

constexpr size_t kPastRanges = 1024;
constexpr std::string_view kDeleted = " (deleted)";

// JITs map their dump as code, only to say where it is.
bool is_jitdump(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("jit-") && name.ends_with(".dump");
}

}  // namespace

AddressSpaces::Process& AddressSpaces::process(int64_t pid) {
  auto [at, added] = processes_.try_emplace(pid);
  if (!added && at->second.ended_ns != INT64_MAX) at->second = Process();  // the number came round
  if (at->second.ranges == nullptr) {
    at->second.ranges = std::make_shared<Ranges>(kPastRanges);
    at->second.version = ++versions_;
  }
  return at->second;
}

AddressSpaces::Ranges& AddressSpaces::own_ranges(Process& process) {
  if (process.ranges.use_count() > 1) {
    process.ranges = std::make_shared<Ranges>(process.ranges->copy_current());
    process.version = ++versions_;
  }
  return *process.ranges;
}

JitNames& AddressSpaces::jit_of(int64_t pid, Process& process) {
  if (process.jit == nullptr) process.jit = std::make_shared<JitNames>(pid);
  return *process.jit;
}

Status AddressSpaces::attach(int64_t pid, int64_t time_ns) {
  TRY_ASSIGN(const std::vector<ProcMap> maps, read_proc_maps(pid));
  for (const ProcMap& map : maps) {
    this->map({.pid = pid,
               .start = map.start,
               .length = map.end - map.start,
               .file_offset = map.offset,
               .device = map.device,
               .inode = map.inode,
               .path = map.path,
               .time_ns = time_ns});
  }
  return {};
}

void AddressSpaces::map(const MapEvent& told) {
  MapEvent event = told;
  if (event.path.ends_with(kDeleted)) event.path.resize(event.path.size() - kDeleted.size());
  const bool known = processes_.contains(event.pid);
  if (event.length == 0 || event.start + event.length < event.start ||
      (!known && processes_.size() >= limits_.processes + limits_.ended)) {
    ++refused_;
    return;
  }
  Process& owner = process(event.pid);
  if (owner.ranges->size() >= limits_.ranges) {
    ++refused_;
    return;
  }
  if (is_jitdump(event.path)) note_jitdump(event, owner);
  Mapping mapping{modules_.find(event), event.start, event.file_offset};
  const uint64_t end = event.start + event.length;
  if (own_ranges(owner).set(event.start, end, std::move(mapping), event.time_ns))
    owner.version = ++versions_;
}

void AddressSpaces::note_jitdump(const MapEvent& event, Process& process) {
  auto found = find_mapped(event.pid, event.start, event.start + event.length, event.path);
  if (!found.ok()) return;
  auto file = open_found(found.value());
  if (!file.ok()) return;
  auto dump = Jitdump::from_file(std::move(file).value());
  if (dump.ok()) jit_of(event.pid, process).use_jitdump(std::move(dump).value());
}

void AddressSpaces::fork(int64_t parent, int64_t child, int64_t time_ns) {
  if (parent == child) return;  // a thread
  if (!processes_.contains(parent) && !attach(parent, time_ns).ok()) return;
  if (processes_.size() >= limits_.processes + limits_.ended) {
    ++refused_;
    return;
  }
  const Process copy = process(parent);
  Process& born = processes_[child];
  born = copy;
  born.ended_ns = INT64_MAX;
}

void AddressSpaces::exec(int64_t pid, int64_t time_ns) {
  Process& changed = process(pid);
  own_ranges(changed).clear_all(time_ns);
  changed.version = ++versions_;
  changed.jit.reset();
}

void AddressSpaces::exit(int64_t pid, int64_t time_ns) {
  const auto at = processes_.find(pid);
  if (at == processes_.end() || at->second.ended_ns != INT64_MAX) return;
  at->second.ended_ns = time_ns;
  ended_.emplace_back(pid, time_ns);
  drop_ended();
}

void AddressSpaces::drop_ended() {
  while (ended_.size() > limits_.ended) {
    const auto [pid, ended_ns] = ended_.front();
    ended_.pop_front();
    const auto at = processes_.find(pid);
    if (at != processes_.end() && at->second.ended_ns == ended_ns) processes_.erase(at);
  }
}

Place AddressSpaces::find(int64_t pid, uint64_t address, int64_t time_ns) {
  const auto at = processes_.find(pid);
  if (at == processes_.end()) return {.found = Place::Found::kNoProcess};
  Process& owner = at->second;
  const auto* range = owner.ranges->find(address, time_ns);
  if (range == nullptr) return {};
  const Mapping& mapping = range->value;
  Place place{.found = Place::Found::kYes,
              .module = mapping.module.get(),
              .file_offset = address - mapping.start + mapping.file_offset,
              .start = range->start,
              .end = range->end};
  const ModuleKind kind = place.module->kind();
  if (kind == ModuleKind::kAnonymous || kind == ModuleKind::kUnreadable)
    place.jit = &jit_of(pid, owner);
  return place;
}

}  // namespace fathom
