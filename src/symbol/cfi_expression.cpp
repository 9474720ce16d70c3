// SPDX-License-Identifier: Apache-2.0
#include "symbol/cfi_expression.h"

#include <optional>

namespace fathom {
namespace {

namespace arch = unwind_arch;

enum Op : uint8_t {
  kDerefOp = 0x06,
  kConst1u = 0x08,
  kConst1s = 0x09,
  kConst2u = 0x0a,
  kConst2s = 0x0b,
  kConst4u = 0x0c,
  kConst4s = 0x0d,
  kConstu = 0x10,
  kConsts = 0x11,
  kAnd = 0x1a,
  kMinus = 0x1c,
  kPlus = 0x22,
  kPlusUconst = 0x23,
  kShl = 0x24,
  kGe = 0x2a,
  kLit0 = 0x30,
  kLit31 = 0x4f,
  kBreg0 = 0x70,
  kBreg31 = 0x8f,
  kBregx = 0x92,
  kNopOp = 0x96
};

// A value while the expression is read: constant, base + offset, or *(base + offset) + addend.
struct Term {
  enum Kind { kConstant, kBase, kLoaded } kind = kConstant;
  uint64_t base = 0;  // a register, or kCfa
  int64_t offset = 0;
  int64_t addend = 0;
};
constexpr uint64_t kCfa = 1000;

int64_t wrapped_sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

class Reader {
 public:
  Reader(ByteSpan bytes, bool starts_with_cfa) : in_(bytes) {
    if (starts_with_cfa) push({Term::kBase, kCfa, 0, 0});
  }

  std::optional<Term> read() {
    while (!in_.done())
      if (!step()) return std::nullopt;
    if (!in_.ok() || depth_ == 0) return std::nullopt;
    return stack_[depth_ - 1];
  }

 private:
  bool push(Term term) {
    if (depth_ == stack_.size()) return false;
    stack_[depth_++] = term;
    return true;
  }
  bool push_constant(int64_t value) { return push({Term::kConstant, 0, value, 0}); }

  bool step() {
    const uint8_t op = in_.u8();
    if (op >= kLit0 && op <= kLit31) return push_constant(op - kLit0);
    if (op >= kBreg0 && op <= kBreg31)
      return push({Term::kBase, static_cast<uint64_t>(op - kBreg0), in_.sleb(), 0});
    switch (op) {
      case kConst1u:
        return push_constant(in_.u8());
      case kConst1s:
        return push_constant(in_.number<int8_t>());
      case kConst2u:
        return push_constant(in_.number<uint16_t>());
      case kConst2s:
        return push_constant(in_.number<int16_t>());
      case kConst4u:
        return push_constant(in_.number<uint32_t>());
      case kConst4s:
        return push_constant(in_.number<int32_t>());
      case kConstu:
        return push_constant(static_cast<int64_t>(in_.uleb()));
      case kConsts:
        return push_constant(in_.sleb());
      case kBregx: {
        const uint64_t base = in_.uleb();
        return push({Term::kBase, base, in_.sleb(), 0});
      }
      case kPlusUconst:
        return depth_ > 0 && add(static_cast<int64_t>(in_.uleb()));
      case kDerefOp:
        return load();
      case kPlus:
      case kMinus:
        return combine(op == kMinus);
      case kNopOp:
        return true;
      default:
        return false;
    }
  }

  bool add(int64_t value) {
    Term& top = stack_[depth_ - 1];
    int64_t& part = top.kind == Term::kLoaded ? top.addend : top.offset;
    part = wrapped_sum(part, value);
    return true;
  }

  bool load() {
    if (depth_ == 0 || stack_[depth_ - 1].kind != Term::kBase) return false;
    stack_[depth_ - 1].kind = Term::kLoaded;
    return true;
  }

  // One side of a sum must be a constant.
  bool combine(bool minus) {
    if (depth_ < 2) return false;
    Term right = stack_[--depth_];
    Term& left = stack_[depth_ - 1];
    if (right.kind != Term::kConstant) {
      if (minus || left.kind != Term::kConstant) return false;
      std::swap(left, right);
    }
    const auto bits = static_cast<uint64_t>(right.offset);
    return add(static_cast<int64_t>(minus ? 0 - bits : bits));
  }

  CfiCursor in_;
  std::array<Term, 8> stack_ = {};
  size_t depth_ = 0;
};

bool fits(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

// breg SP n; breg PC 0; lit15; and; lit THRESHOLD; ge; lit3; shl; plus
bool set_plt_rule(ByteSpan expression, UnwindRule& rule) {
  CfiCursor in(expression);
  if (in.u8() != kBreg0 + arch::kStackPointer) return false;
  const int64_t offset = in.sleb();
  if (in.u8() != kBreg0 + arch::kPc || in.sleb() != 0) return false;
  if (in.u8() != kLit0 + 15 || in.u8() != kAnd) return false;
  const uint8_t threshold = in.u8();
  if (threshold < kLit0 || threshold > kLit0 + 15 || in.u8() != kGe) return false;
  if (in.u8() != kLit0 + 3 || in.u8() != kShl || in.u8() != kPlus) return false;
  if (!in.ok() || !in.done() || !fits(offset)) return false;
  rule.cfa = CfaKind::kPlt;
  rule.cfa_register = arch::kStackPointer;
  rule.cfa_offset = static_cast<int32_t>(offset);
  rule.cfa_addend = threshold - kLit0;
  return true;
}

}  // namespace

bool set_cfa_expression(ByteSpan expression, UnwindRule& rule) {
  rule.cfa = CfaKind::kUnsupported;
  rule.cfa_register = 0;
  rule.cfa_offset = rule.cfa_addend = 0;
  if (set_plt_rule(expression, rule)) return true;
  const std::optional<Term> term = Reader(expression, false).read();
  if (!term || term->kind == Term::kConstant || term->base >= arch::kRegisters) return false;
  if (!fits(term->offset) || !fits(term->addend)) return false;
  rule.cfa = term->kind == Term::kBase ? CfaKind::kRegister : CfaKind::kDeref;
  rule.cfa_register = static_cast<uint8_t>(term->base);
  rule.cfa_offset = static_cast<int32_t>(term->offset);
  rule.cfa_addend = static_cast<int32_t>(term->addend);
  return true;
}

Slot slot_from_expression(ByteSpan expression, bool is_value) {
  const std::optional<Term> term = Reader(expression, true).read();
  if (!term || term->kind != Term::kBase) return Slot(Slot::kUnusable);
  if (term->base == kCfa)
    return Slot::checked(is_value ? Slot::kIsCfa : Slot::kAtCfa, term->offset);
  if (is_value) return Slot(Slot::kUnusable);
  if (term->base == arch::kFramePointer) return Slot::checked(Slot::kAtFrame, term->offset);
  if (term->base == arch::kStackPointer) return Slot::checked(Slot::kAtStack, term->offset);
  return Slot(Slot::kUnusable);
}

}  // namespace fathom
