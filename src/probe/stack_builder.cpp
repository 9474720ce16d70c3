// SPDX-License-Identifier: Apache-2.0
#include "probe/stack_builder.h"

#include <cstdlib>
#include <tuple>
#include <utility>

#include "record/sample_sums.h"

namespace fathom {
namespace {

constexpr uint32_t kKernelSpace = UINT32_MAX;
constexpr uint64_t kNeverSame = UINT64_MAX;  // no code is there
constexpr size_t kMostThreads = 4096;
constexpr size_t kMostFrames = 8192;

StackEnd end_of(UnwindEnd end) {
  switch (end) {
    case UnwindEnd::kRoot:
      return StackEnd::kComplete;
    case UnwindEnd::kCut:
      return StackEnd::kCut;
    case UnwindEnd::kElsewhere:
      return StackEnd::kElsewhere;
    case UnwindEnd::kNoTable:
      return StackEnd::kNoTable;
    case UnwindEnd::kBadRule:
      return StackEnd::kBadRule;
    case UnwindEnd::kBadFrame:
      return StackEnd::kBadFrame;
    case UnwindEnd::kTooDeep:
      return StackEnd::kTooDeep;
  }
  return StackEnd::kBadFrame;
}

uint64_t needed_bytes(const RawSample& sample, const UnwoundStack& unwound) {
  if (unwound.end == UnwindEnd::kCut) return sample.copy.bytes.size() + unwound.missing_bytes;
  for (auto frame = unwound.frames.rbegin(); frame != unwound.frames.rend(); ++frame)
    if (frame->cfa > sample.copy.address) return frame->cfa - sample.copy.address;
  return 0;
}

std::string below(const std::string& folder, const char* name) {
  return folder.empty() ? folder : folder + name;
}

}  // namespace

std::string stack_cache_folder() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder == '/')
    return std::string(folder) + "/fathom";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/fathom" : "";
}

const char* stack_end_name(StackEnd end) {
  static constexpr std::array<const char*, static_cast<size_t>(StackEnd::kCount)> kNames = {
      "complete", "joined",   "cut",       "not in memory", "32-bit program", "elsewhere",
      "no table", "bad rule", "bad frame", "too deep",      "lost at the end"};
  return kNames[static_cast<size_t>(end)];
}

StackBuilder::StackBuilder(Interner& names, const std::string& cache_folder, bool lines)
    : names_(names),
      symbolizer_(names, {.lines = lines, .kernel_folder = below(cache_folder, "/kernel")}),
      tables_(below(cache_folder, "/unwind")),
      modules_(symbolizer_.spaces(), tables_),
      unwinder_(modules_, kMostFrames) {
  symbolizer_.use_function_starts([this](const Module& module, uint64_t address) {
    return modules_.function_start(module, address);
  });
}

BuiltStack StackBuilder::build(const RawSample& sample) {
  BuiltStack built;
  if (sample.user != RawSample::User::kNone) {
    built.end = follow(sample);
    built.needed_bytes = needed_bytes(sample, unwound_);
    bool is_own = false;
    std::tie(built.stack, is_own) = add_user_frames(sample);
    if (is_own) {
      ++ended_[static_cast<size_t>(built.end)];
      return built;
    }
  }
  built.stack = add_kernel_frames(built.stack, sample.kernel);
  ++ended_[static_cast<size_t>(built.end)];
  return built;
}

StackEnd StackBuilder::follow(const RawSample& sample) {
  unwound_.frames.clear();
  if (sample.user == RawSample::User::k32Bit) return StackEnd::k32Bit;
  AddressSpaces& spaces = symbolizer_.spaces();
  if (!spaces.knows(sample.pid)) (void)spaces.attach(sample.pid, 0);  // then no address has a name
  modules_.aim_at(sample.pid, sample.time_ns);
  unwinder_.unwind(sample.registers, sample.copy, unwound_);
  if (is_between_programs(sample)) {
    unwound_.frames.clear();
    return StackEnd::kComplete;
  }
  const auto joined = joiner_.add(static_cast<uint64_t>(sample.tid), unwound_);
  if (joined == StackJoiner::Outcome::kJoined) return StackEnd::kJoined;
  const bool no_memory = sample.user == RawSample::User::kNotInRam;
  return unwound_.end == UnwindEnd::kCut && no_memory ? StackEnd::kNotInRam : end_of(unwound_.end);
}

// In the kernel, after an exec took the old program away and before the new one runs: registers and
// stack are still the old one's.
bool StackBuilder::is_between_programs(const RawSample& sample) {
  if (starting_.empty() || !starting_.contains(sample.pid)) return false;
  const Place place = symbolizer_.spaces().find(sample.pid, sample.registers.pc(), sample.time_ns);
  if (place.found != Place::Found::kYes) return !sample.kernel.empty();
  starting_.erase(sample.pid);
  return false;
}

// The outer part of a stack is mostly that of the thread's last sample: as far as addresses agree,
// its stacks are taken over without a look-up.
std::pair<StackId, bool> StackBuilder::add_user_frames(const RawSample& sample) {
  if (last_stacks_.size() >= kMostThreads && !last_stacks_.contains(sample.tid))
    last_stacks_.clear();
  LastStack& last = last_stacks_[sample.tid];
  const uint32_t space = symbolizer_.spaces().version(sample.pid);
  if (last.space != space) last.steps.clear();
  last.space = space;
  StackId stack{};
  size_t depth = 0;
  bool same = true;
  for (auto frame = unwound_.frames.rbegin(); frame != unwound_.frames.rend(); ++frame, ++depth) {
    const uint64_t address = frame->lookup_address();
    same = same && depth < last.steps.size() && last.steps[depth].address == address;
    if (!same) {
      last.steps.resize(depth);
      last.steps.push_back(step(stack, address, space, sample));
    }
    stack = last.steps[depth].stack;
  }
  last.steps.resize(depth);
  const size_t own = own_at(last);
  if (own == last.steps.size()) return {stack, false};
  return {add_own_frame(last.steps[own].stack), true};
}

// From which step on there is only Fathom's code, and what it calls in the vdso.
size_t StackBuilder::own_at(const LastStack& last) const {
  const Dictionary& names = names_.dictionary();
  const auto is_vdso = [&](StackId stack) {
    const FrameId frame = names.stacks[index_of(stack)].frame;
    return names.text(names.frames[index_of(frame)].module) == "[vdso]";
  };
  size_t own = last.steps.size();
  for (size_t i = own; i-- > 0;) {
    if (last.steps[i].is_own) {
      own = i;
    } else if (own != last.steps.size() || !is_vdso(last.steps[i].stack)) {
      break;
    }
  }
  return own;
}

StackId StackBuilder::add_own_frame(StackId stack) {
  Frame own;
  own.symbol = names_.string(kOwnFrame);
  return names_.stack(stack, names_.frame(own));
}

StackBuilder::LastStack::Step StackBuilder::step(StackId parent, uint64_t address, uint32_t space,
                                                 const RawSample& sample) {
  const StackCache::Key key{address, space, parent};
  if (const StackId known = cache_.find(key); known != StackId::kNone)
    return {address, known, known == parent};
  const std::span<const FrameId> frames =
      symbolizer_.user_frames(sample.pid, address, sample.time_ns);
  const bool is_own = !frames.empty() && is_own_library(frames.front());
  StackId stack = parent;
  if (!is_own) {
    for (const FrameId frame : frames) stack = names_.stack(stack, frame);
  }
  if (!symbolizer_.is_lasting()) return {kNeverSame, stack, is_own};
  if (stack != StackId::kNone) cache_.add(key, stack);
  return {address, stack, is_own};
}

bool StackBuilder::is_own_library(FrameId frame) const {
  const Dictionary& names = names_.dictionary();
  return OwnCode::is_library(names.text(names.frames[index_of(frame)].module));
}

// Those outside of Fathom's programs, which are at the innermost end.
std::span<const uint64_t> StackBuilder::without_own(std::span<const uint64_t> addresses) {
  size_t own = addresses.size();
  while (own > 0 && kernel_code(addresses[own - 1]) != KernelCode::kOwnProgram) --own;
  if (own == 0) {  // no program; what calls them may be there
    while (own < addresses.size() && kernel_code(addresses[own]) == KernelCode::kTracepoint) ++own;
    const bool is_foreign =
        own < addresses.size() && kernel_code(addresses[own]) == KernelCode::kForeignProgram;
    if (own == 0 || is_foreign || !own_code_.has_programs()) return addresses;
  }
  while (own < addresses.size() && kernel_code(addresses[own]) != KernelCode::kOther &&
         kernel_code(addresses[own]) != KernelCode::kForeignProgram)
    ++own;
  return addresses.subspan(own);
}

StackId StackBuilder::add_kernel_frames(StackId stack, std::span<const uint64_t> all) {
  const std::span<const uint64_t> addresses = without_own(all);
  const size_t innermost = addresses.size() == all.size() ? 0 : SIZE_MAX;
  for (size_t i = addresses.size(); i-- > 0;) {
    // All but the innermost are return addresses.
    const StackCache::Key key{addresses[i] - (i == innermost ? 0 : 1), kKernelSpace, stack};
    StackId next = cache_.find(key);
    if (next == StackId::kNone) {
      next = names_.stack(stack, symbolizer_.kernel(key.address));
      cache_.add(key, next);
    }
    stack = next;
  }
  return addresses.size() == all.size() ? stack : add_own_frame(stack);
}

void StackBuilder::change(const TaskChange& change) {
  AddressSpaces& spaces = symbolizer_.spaces();
  switch (change.kind) {
    case TaskChange::Kind::kMap:
      return spaces.map(change.map);
    case TaskChange::Kind::kFork:
      if (change.pid == change.parent) ++processes_[change.pid].other_threads;
      return spaces.fork(change.parent, change.pid, change.time_ns);
    case TaskChange::Kind::kExec:
      joiner_.forget(static_cast<uint64_t>(change.tid));
      processes_.erase(change.pid);  // its other threads are gone
      starting_.insert(change.pid);
      return spaces.exec(change.pid, change.time_ns);
    case TaskChange::Kind::kExit:
      joiner_.forget(static_cast<uint64_t>(change.tid));
      last_stacks_.erase(change.tid);
      if (ends_process(change)) end_process(change.pid, change.time_ns);
      return;
    case TaskChange::Kind::kName:
      return;
  }
}

// The first thread may end before others: the address space stays until the last one does.
bool StackBuilder::ends_process(const TaskChange& exit) {
  const auto at = processes_.find(exit.pid);
  if (at == processes_.end()) return exit.pid == exit.tid;
  if (exit.pid == exit.tid) {
    at->second.first_is_gone = true;
  } else {
    --at->second.other_threads;
  }
  return at->second.first_is_gone && at->second.other_threads <= 0;
}

void StackBuilder::end_process(int64_t pid, int64_t time_ns) {
  processes_.erase(pid);
  starting_.erase(pid);
  symbolizer_.spaces().exit(pid, time_ns);
}

void StackBuilder::attach(int64_t pid, int64_t time_ns) {
  (void)symbolizer_.spaces().attach(pid, time_ns);  // gone already: its samples say so
}

DetailId StackBuilder::detail_of(StackEnd end) {
  if (end == StackEnd::kComplete) return DetailId::kNone;
  DetailId& known = details_[static_cast<size_t>(end)];
  if (known == DetailId::kNone) {
    const DetailItem item{names_.string("unwind"), names_.string(stack_end_name(end))};
    known = names_.detail({&item, 1});
  }
  return known;
}

bool StackBuilder::is_of_tracing(uint64_t address) {
  return kernel_code(address) != KernelCode::kOther;
}

KernelCode StackBuilder::kernel_code(uint64_t address) {
  const auto [place, added] = kernel_codes_.try_emplace(address);
  if (!added) return place->second;
  const FrameId frame = symbolizer_.kernel(address);
  const auto& dictionary = names_.dictionary();
  const std::string symbol(dictionary.text(dictionary.frames[index_of(frame)].symbol));
  return place->second = own_code_.kernel_code(symbol);
}

void StackBuilder::forget_ids() {
  details_ = {};
  symbolizer_.forget_ids();
  cache_.clear();
  last_stacks_.clear();
}

size_t StackBuilder::memory_bytes() const { return tables_.memory_bytes() + cache_.memory_bytes(); }

}  // namespace fathom
