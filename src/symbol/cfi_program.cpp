// SPDX-License-Identifier: Apache-2.0
#include "symbol/cfi_program.h"

#include <vector>

#include "symbol/cfi_expression.h"

namespace fathom {
namespace {

namespace arch = unwind_arch;

enum Instruction : uint8_t {
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  kMipsAdvance8 = 0x1d,
  kGnuArgsSize = 0x2e,
  kGnuNegativeOffset = 0x2f,
  // In the two highest bits, with an operand in the others:
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0
};
constexpr size_t kDeepest = 64;  // remembered states; compilers use one or two

class Machine {
 public:
  Machine(const CfiCie& cie, ByteSpan program, uint64_t address, const UnwindRule* initial)
      : cie_(cie), in_(program), address_(address), initial_(initial) {}

  CfiVerdict run(uint64_t start, uint64_t end, UnwindRule& rule, CfiRowSink* rows) {
    at_ = start;
    end_ = end;
    rule_ = &rule;
    rows_ = rows;
    while (!in_.done() && at_ < end_) {
      if (step() && in_.ok()) continue;
      rule = UnwindRule();
      rule.cfa = CfaKind::kUnsupported;
      emit();
      return CfiVerdict::kBad;
    }
    emit();
    return partly_ ? CfiVerdict::kPartly : CfiVerdict::kGood;
  }

 private:
  bool step() {
    const uint8_t byte = in_.u8();
    const uint8_t operand = byte & 0x3f;
    switch (byte & 0xc0) {
      case kAdvance:
        return advance(operand);
      case kOffset:
        return set(operand, Slot::kAtCfa, factored(in_.uleb()));
      case kRestore:
        return restore(operand);
      default:
        break;
    }
    switch (byte) {
      case kNop:
        return true;
      case kSetLoc:
        return set_location();
      case kAdvance1:
        return advance(in_.u8());
      case kAdvance2:
        return advance(in_.number<uint16_t>());
      case kAdvance4:
        return advance(in_.number<uint32_t>());
      case kMipsAdvance8:
        return advance(in_.number<uint64_t>());
      case kRememberState:
        return remember();
      case kRestoreState:
        return recall();
      case kGnuArgsSize:
        return in_.uleb(), true;
      default:
        return byte >= kDefCfa && byte <= kDefCfaOffsetSf && is_cfa(byte) ? step_cfa(byte)
                                                                          : step_slot(byte);
    }
  }

  static bool is_cfa(uint8_t byte) {
    return byte <= kDefCfaExpression || byte == kDefCfaSf || byte == kDefCfaOffsetSf;
  }

  bool step_cfa(uint8_t instruction) {
    switch (instruction) {
      case kDefCfa: {
        const uint64_t base = in_.uleb();
        return set_cfa(base, static_cast<int64_t>(in_.uleb()));
      }
      case kDefCfaSf: {
        const uint64_t base = in_.uleb();
        return set_cfa(base, factored(static_cast<uint64_t>(in_.sleb())));
      }
      case kDefCfaRegister:
        return set_cfa(in_.uleb(), rule_->cfa_offset);
      case kDefCfaOffset:
        return set_cfa_offset(static_cast<int64_t>(in_.uleb()));
      case kDefCfaOffsetSf:
        return set_cfa_offset(factored(static_cast<uint64_t>(in_.sleb())));
      default:
        if (!set_cfa_expression(in_.take(in_.uleb()), *rule_)) partly_ = true;
        return true;
    }
  }

  bool step_slot(uint8_t instruction) {
    if (instruction < kOffsetExtended ||
        (instruction > kValExpression && instruction != kGnuNegativeOffset))
      return false;
    const uint64_t which = in_.uleb();
    switch (instruction) {
      case kOffsetExtended:
        return set(which, Slot::kAtCfa, factored(in_.uleb()));
      case kOffsetExtendedSf:
        return set(which, Slot::kAtCfa, factored(static_cast<uint64_t>(in_.sleb())));
      case kGnuNegativeOffset:
        return set(which, Slot::kAtCfa, factored(0 - in_.uleb()));
      case kValOffset:
        return set(which, Slot::kIsCfa, factored(in_.uleb()));
      case kValOffsetSf:
        return set(which, Slot::kIsCfa, factored(static_cast<uint64_t>(in_.sleb())));
      case kRestoreExtended:
        return restore(which);
      case kUndefined:
        return set(which, Slot(Slot::kUnknown));
      case kSameValue:
        return set(which, Slot(Slot::kSame));
      case kRegister: {
        const uint64_t home = in_.uleb();
        return set(which, home < arch::kRegisters
                              ? Slot::checked(Slot::kInRegister, static_cast<int64_t>(home) * 8)
                              : Slot(Slot::kUnusable));
      }
      case kExpression:
      case kValExpression: {
        const ByteSpan expression = in_.take(in_.uleb());
        if (arch::slot_of(which) == arch::kRegisters) return true;
        return set(which, slot_from_expression(expression, instruction == kValExpression));
      }
      default:
        return false;
    }
  }

  [[nodiscard]] int64_t factored(uint64_t value) const {
    return static_cast<int64_t>(value * static_cast<uint64_t>(cie_.data_factor));
  }

  bool set_cfa(uint64_t base, int64_t offset) {
    rule_->cfa = CfaKind::kRegister;
    rule_->cfa_register = static_cast<uint8_t>(base);
    rule_->cfa_offset = static_cast<int32_t>(offset);
    rule_->cfa_addend = 0;
    if (base < arch::kRegisters && offset == rule_->cfa_offset) return true;
    rule_->cfa = CfaKind::kUnsupported;
    rule_->cfa_register = 0;
    partly_ = true;
    return true;
  }

  // After an expression there is no register to which an offset could be added.
  bool set_cfa_offset(int64_t offset) {
    if (rule_->cfa != CfaKind::kRegister) return rule_->cfa == CfaKind::kUnsupported;
    return set_cfa(rule_->cfa_register, offset);
  }

  bool set(uint64_t which, Slot::Kind kind, int64_t offset) {
    return set(which, Slot::checked(kind, offset));
  }
  bool set(uint64_t which, Slot slot) {
    const size_t index = arch::slot_of(which);
    if (index == arch::kRegisters) return true;
    if (slot.kind() == Slot::kUnusable) partly_ = true;
    rule_->slots[index] = slot;
    return true;
  }

  bool restore(uint64_t which) {
    if (initial_ == nullptr) return false;
    const size_t index = arch::slot_of(which);
    if (index != arch::kRegisters) rule_->slots[index] = initial_->slots[index];
    return true;
  }

  bool remember() {
    if (remembered_.size() == kDeepest) return false;
    remembered_.push_back(*rule_);
    return true;
  }

  bool recall() {
    if (remembered_.empty()) return false;
    *rule_ = remembered_.back();
    remembered_.pop_back();
    return true;
  }

  bool advance(uint64_t steps) {
    const uint64_t distance = steps * cie_.code_factor;
    return move_to(distance < end_ - at_ ? at_ + distance : end_);
  }

  bool set_location() {
    const auto to = read_encoded_pointer(in_, cie_.pointer_encoding, address_ + in_.offset());
    return to && *to >= at_ && move_to(*to < end_ ? *to : end_);
  }

  bool move_to(uint64_t to) {
    if (rows_ == nullptr) return false;  // a CIE has no addresses
    if (to == at_) return true;
    emit();
    at_ = to;
    return true;
  }

  void emit() {
    if (rows_ != nullptr && at_ < end_) rows_->row(at_, *rule_);
  }

  const CfiCie& cie_;
  CfiCursor in_;
  uint64_t address_;
  const UnwindRule* initial_;
  uint64_t at_ = 0;
  uint64_t end_ = 0;
  UnwindRule* rule_ = nullptr;
  CfiRowSink* rows_ = nullptr;
  std::vector<UnwindRule> remembered_;
  bool partly_ = false;
};

}  // namespace

CfiVerdict run_cie_program(const CfiCie& cie, UnwindRule& initial) {
  initial = UnwindRule();
  initial.cfa = CfaKind::kUnsupported;
  initial.is_signal = cie.is_signal ? 1 : 0;
  initial.slots[arch::kStackPointerSlot] = Slot(Slot::kIsCfa);
  initial.pc() = Slot(Slot::kUnusable);
  return Machine(cie, cie.program, cie.program_address, nullptr).run(0, 1, initial, nullptr);
}

CfiVerdict run_fde_program(const CfiCie& cie, const UnwindRule& initial, const CfiFde& fde,
                           CfiRowSink& rows) {
  UnwindRule rule = initial;
  return Machine(cie, fde.program, fde.program_address, &initial)
      .run(fde.start, fde.end, rule, &rows);
}

}  // namespace fathom
