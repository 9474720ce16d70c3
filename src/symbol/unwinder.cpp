// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwinder.h"

#include <bit>
#include <cstring>

namespace fathom {
namespace {

namespace arch = unwind_arch;

// A frame further from the copy is on another stack, or nonsense.
constexpr uint64_t kMostMissing = uint64_t{64} << 20;
constexpr size_t kRecentModules = 4;
constexpr uint64_t kEntryBytes = 64;  // no start code is longer

constexpr uint32_t kept_over_calls() {
  uint32_t mask = 0;
  for (const uint8_t which : arch::kTracked) mask |= 1U << which;
  return mask;
}

// One unwinding: registers of the frame being looked at, moved up step by step.
class Walk {
 public:
  Walk(UnwindModules& modules, size_t most_frames, const UnwindRegisters& registers,
       const StackCopy& copy, UnwoundStack& to)
      : modules_(modules), most_frames_(most_frames), regs_(registers), copy_(copy), to_(to) {}

  void run() {
    if (!regs_.has(arch::kPc) || !regs_.has(arch::kStackPointer))
      return end_with(UnwindEnd::kBadRule);
    kind_ = UnwoundKind::kSampled;
    for (;;) {
      if (to_.frames.size() == most_frames_) return end_with(UnwindEnd::kTooDeep);
      const uint64_t looked_up = regs_.pc() - (kind_ == UnwoundKind::kCall ? 1 : 0);
      const UnwindModule& module = module_at(looked_up);
      if (module.start == module.end && kind_ == UnwoundKind::kCall)
        return end_with(UnwindEnd::kBadFrame);
      to_.frames.push_back({regs_.pc(), 0, kind_, false});
      const UnwindRule* rule =
          module.table == nullptr ? nullptr : module.table->find(looked_up - module.bias);
      const bool goes_on = rule != nullptr ? step(*rule, module) : step_without_rule(module);
      if (!goes_on) return;
      if (regs_.pc() == 0) return end_with(UnwindEnd::kRoot);
    }
  }

 private:
  void end_with(UnwindEnd end) { to_.end = end; }
  bool stop(UnwindEnd end) {
    end_with(end);
    return false;
  }

  const UnwindModule& module_at(uint64_t address) {
    for (const UnwindModule& module : recent_)
      if (address - module.start < module.end - module.start) return module;
    UnwindModule& place = recent_[next_recent_++ % kRecentModules];
    place = modules_.find(address);
    return place;
  }

  [[nodiscard]] bool in_copy(uint64_t address) const {
    const uint64_t offset = address - copy_.address;
    return copy_.bytes.size() >= 8 && offset <= copy_.bytes.size() - 8;
  }
  [[nodiscard]] uint64_t load(uint64_t address) const {
    uint64_t value;
    std::memcpy(&value, copy_.bytes.data() + (address - copy_.address), sizeof value);
    return value;
  }

  // A word without which there is no going on.
  bool must_load(uint64_t address, uint64_t& value) {
    if (in_copy(address)) {
      value = load(address);
      return true;
    }
    const uint64_t end = copy_.address + copy_.bytes.size();
    const uint64_t missing = address + 8 - end;
    if (address < copy_.address || missing > kMostMissing) return stop(UnwindEnd::kElsewhere);
    to_.missing_bytes = missing;
    return stop(UnwindEnd::kCut);
  }

  // A trampoline is returned to and was never called: there is no call before its address.
  void is_trampoline() {
    if (to_.frames.back().kind == UnwoundKind::kCall)
      to_.frames.back().kind = UnwoundKind::kInterrupted;
  }

  bool step(const UnwindRule& rule, const UnwindModule& module) {
    if (rule.is_signal != 0) is_trampoline();
    if (rule.pc().kind() == Slot::kUnknown) return stop(UnwindEnd::kRoot);
    if (rule.cfa == CfaKind::kUnsupported || !regs_.has(rule.cfa_register)) {
      if (module.table->uses_frame_pointers() && step_by_frame_pointer()) return true;
      return stop(UnwindEnd::kBadRule);
    }
    uint64_t cfa = regs_.value[rule.cfa_register] + static_cast<uint64_t>(int64_t{rule.cfa_offset});
    if (rule.cfa == CfaKind::kSignal) return step_signal(cfa);
    if (rule.cfa == CfaKind::kDeref) {
      if (!must_load(cfa, cfa)) return false;
      cfa += static_cast<uint64_t>(int64_t{rule.cfa_addend});
    } else if (rule.cfa == CfaKind::kPlt) {
      cfa += (regs_.pc() & 15) >= static_cast<uint64_t>(rule.cfa_addend) ? 8 : 0;
    }
    to_.frames.back().cfa = cfa;
    // A return address in a register may have been popped already. Otherwise only a signal handler
    // may run on a stack above the one it interrupted.
    const bool popped = rule.pc().kind() == Slot::kInRegister && kind_ != UnwoundKind::kCall;
    if (cfa < regs_.sp() + (popped ? 0 : 8) && rule.is_signal == 0)
      return stop(UnwindEnd::kBadFrame);
    return move_up(rule, cfa);
  }

  bool move_up(const UnwindRule& rule, uint64_t cfa) {
    uint64_t pc = 0;
    if (!find_pc(rule.pc(), cfa, pc)) return false;
    const Bases bases = {cfa, regs_.sp(), regs_.value[arch::kFramePointer],
                         regs_.has(arch::kFramePointer)};
    regs_.set(arch::kStackPointer, cfa);
    for (unsigned changed = rule.changed; changed != 0; changed &= changed - 1) {
      const auto index = static_cast<size_t>(std::countr_zero(changed));
      find_register(arch::kTracked[index], rule.slots[index], bases);
    }
    if (!regs_.has(arch::kStackPointer)) return stop(UnwindEnd::kBadRule);
    regs_.known &= kept_over_calls();
    regs_.set(arch::kPc, pc);
    kind_ = rule.is_signal != 0 ? UnwoundKind::kInterrupted : UnwoundKind::kCall;
    return true;
  }

  // What slots count from: of the frame that is left.
  struct Bases {
    uint64_t cfa, sp, frame_pointer;
    bool has_frame_pointer;
  };

  void find_register(unsigned which, Slot slot, const Bases& bases) {
    const auto offset = static_cast<uint64_t>(int64_t{slot.offset()});
    switch (slot.kind()) {
      case Slot::kAtCfa:
        return restore(which, bases.cfa + offset, bases.sp);
      case Slot::kAtStack:
        return restore(which, bases.sp + offset, bases.sp);
      case Slot::kAtFrame:
        if (!bases.has_frame_pointer) return regs_.forget(which);
        return restore(which, bases.frame_pointer + offset, bases.sp);
      case Slot::kIsCfa:
        return regs_.set(which, bases.cfa + offset);
      case Slot::kInRegister:
        return copy_register(which, offset / 8);
      case Slot::kSame:
        return;
      default:
        return regs_.forget(which);
    }
  }

  bool find_pc(Slot slot, uint64_t cfa, uint64_t& pc) {
    const auto offset = static_cast<uint64_t>(int64_t{slot.offset()});
    switch (slot.kind()) {
      case Slot::kAtCfa:
        return must_load(cfa + offset, pc);
      case Slot::kAtStack:
        return must_load(regs_.sp() + offset, pc);
      case Slot::kInRegister:
        if (!regs_.has(static_cast<unsigned>(offset / 8))) return stop(UnwindEnd::kBadRule);
        pc = regs_.value[offset / 8];
        return true;
      default:
        return stop(UnwindEnd::kBadRule);
    }
  }

  // Below the stack pointer a slot has been popped already: the register holds the caller's value
  // again. Above the copy it is lost, which may not matter.
  void restore(unsigned which, uint64_t address, uint64_t sp) {
    if (address < sp) return;
    if (in_copy(address))
      regs_.set(which, load(address));
    else
      regs_.forget(which);
  }

  void copy_register(unsigned which, uint64_t from) {
    if (regs_.has(static_cast<unsigned>(from)))
      regs_.set(which, regs_.value[from]);
    else
      regs_.forget(which);
  }

  bool step_signal(uint64_t context) {
    is_trampoline();
    const uint64_t at = context + static_cast<uint64_t>(arch::kSignalRegisters);
    UnwindRegisters found;
    for (size_t i = 0; i < arch::kSignalOrder.size(); ++i) {
      uint64_t value = 0;
      if (!must_load(at + i * 8, value)) return false;
      found.set(arch::kSignalOrder[i], value);
    }
    regs_ = found;
    to_.frames.back().cfa = regs_.sp();
    kind_ = UnwoundKind::kInterrupted;
    return true;
  }

  // The few bytes of code at hand tell a signal trampoline and a frame that is just being made or
  // left; a call to where there is no code has only pushed its return address; else there is the
  // frame pointer.
  bool step_without_rule(const UnwindModule& module) {
    if (is_entry(module)) return stop(UnwindEnd::kRoot);
    if (module.start == module.end && is_return_to_code(regs_.sp())) return step_edge(8);
    std::array<uint8_t, 16> bytes = {};
    const size_t size = modules_.read_code(regs_.pc(), bytes);
    const std::span<const uint8_t> code(bytes.data(), std::min(size, bytes.size()));
    if (arch::is_signal_trampoline(code)) return step_signal(regs_.sp());
    if (kind_ != UnwoundKind::kCall) {
      if (arch::is_after_clone(code))
        return is_return_to_code(regs_.sp()) ? step_edge(8) : stop(UnwindEnd::kRoot);
      const int edge = arch::frame_edge_bytes(code);
      if (edge != 0) return step_edge(static_cast<uint64_t>(edge));
    }
    if (step_by_frame_pointer()) return true;
    const bool zero = regs_.has(arch::kFramePointer) && regs_.value[arch::kFramePointer] == 0;
    return stop(zero && kind_ == UnwoundKind::kCall ? UnwindEnd::kRoot : UnwindEnd::kNoTable);
  }

  // The first instructions of a program have no caller; those of the dynamic loader have no rules.
  [[nodiscard]] bool is_entry(const UnwindModule& module) const {
    return module.entry != 0 && regs_.pc() - module.bias - module.entry < kEntryBytes;
  }

  bool has_rule(uint64_t address) {
    const UnwindModule& module = module_at(address);
    return module.table != nullptr && module.table->find(address - module.bias) != nullptr;
  }

  bool is_return_to_code(uint64_t address) {
    if (!in_copy(address)) return false;
    const UnwindModule& module = module_at(load(address) - 1);
    return module.start != module.end;
  }

  bool step_edge(uint64_t bytes_above) {
    UnwindRule rule;
    rule.pc() = Slot(Slot::kAtCfa, arch::kReturnAddress);
    const uint64_t cfa = regs_.sp() + bytes_above;
    if (bytes_above > 8) rule.slots[arch::slot_of(arch::kFramePointer)] = Slot(Slot::kAtCfa, -16);
    rule.slots[arch::kStackPointerSlot] = Slot(Slot::kIsCfa);
    rule.mark_changes();
    to_.frames.back().cfa = cfa;
    return move_up(rule, cfa);
  }

  // Believed only where the return address lies in code and the chain rises inside the copy, or the
  // caller has rules of its own and may keep anything in that register.
  bool step_by_frame_pointer() {
    if (!regs_.has(arch::kFramePointer)) return false;
    const uint64_t frame = regs_.value[arch::kFramePointer];
    if (frame < regs_.sp() || frame % 8 != 0 || !in_copy(frame) || !in_copy(frame + 8))
      return false;
    const uint64_t pc = load(frame + 8);
    const uint64_t next = load(frame);
    if (!is_return_to_code(frame + 8)) return false;
    if (next != 0 && next <= frame && !has_rule(pc - 1)) return false;
    to_.frames.back().cfa = frame + static_cast<uint64_t>(arch::kFramePointerCfa);
    to_.frames.back().by_frame_pointer = true;
    ++to_.frame_pointer_steps;
    regs_.known = 0;
    regs_.set(arch::kStackPointer, frame + 16);
    regs_.set(arch::kFramePointer, next);
    regs_.set(arch::kPc, pc);
    kind_ = UnwoundKind::kCall;
    return true;
  }

  UnwindModules& modules_;
  size_t most_frames_;
  UnwindRegisters regs_;
  const StackCopy& copy_;
  UnwoundStack& to_;
  UnwoundKind kind_ = UnwoundKind::kSampled;
  std::array<UnwindModule, kRecentModules> recent_ = {};
  size_t next_recent_ = 0;
};

}  // namespace

UnwindRegisters registers_from_perf(uint64_t mask, std::span<const uint64_t> values) {
  UnwindRegisters registers;
  size_t next = 0;
  for (unsigned bit = 0; bit < 64 && next < values.size(); ++bit) {
    if ((mask >> bit & 1) == 0) continue;
    const uint64_t value = values[next++];
    if (bit < arch::kPerfOrder.size() && arch::kPerfOrder[bit] < arch::kRegisters)
      registers.set(arch::kPerfOrder[bit], value);
  }
  return registers;
}

const char* name_of(UnwindEnd end) {
  constexpr std::array<const char*, kUnwindEnds> kNames = {
      "root", "cut", "elsewhere", "no table", "bad rule", "bad frame", "too deep"};
  return kNames[static_cast<size_t>(end)];
}

void Unwinder::unwind(const UnwindRegisters& registers, const StackCopy& copy, UnwoundStack& to) {
  to.frames.clear();
  to.end = UnwindEnd::kRoot;
  to.missing_bytes = 0;
  to.frame_pointer_steps = 0;
  Walk(modules_, most_frames_, registers, copy, to).run();
}

}  // namespace fathom
