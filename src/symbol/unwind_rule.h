// SPDX-License-Identifier: Apache-2.0
// One way of finding the caller's frame: where the CFA (the stack pointer before the call) is and
// where the registers of the caller lie. A module has thousands to millions of address ranges but
// few different rules, so tables hold rules once. Plain data: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "symbol/unwind_arch.h"

namespace fathom {

enum class CfaKind : uint8_t {
  kNone,         // no information: a gap between functions
  kUnsupported,  // information we cannot use, counted when the table was built
  kRegister,     // register + offset
  kDeref,        // *(register + offset) + addend: realigned stacks
  kPlt,          // register + offset, 8 more from byte `addend` of each 16-byte stub on
  kSignal        // a ucontext lies at register + offset: all registers come from there
};

// Where one register of the caller is: a kind in the low three bits, a multiple of 8 in the rest.
class Slot {
 public:
  enum Kind : uint8_t {
    kAtCfa,       // in memory at CFA + offset
    kAtFrame,     // in memory at frame pointer + offset
    kAtStack,     // in memory at stack pointer + offset
    kSame,        // unchanged
    kUnknown,     // lost; for the return address: the outermost frame
    kIsCfa,       // is CFA + offset
    kInRegister,  // in the register offset / 8
    kUnusable     // said in a way we do not read
  };
  constexpr Slot() = default;
  constexpr explicit Slot(Kind kind, int32_t offset = 0) : bits_(offset | kind) {}

  // kUnusable where an offset is odd or beyond 2 GB.
  static constexpr Slot checked(Kind kind, int64_t offset) {
    const bool fits = offset >= INT32_MIN && offset <= INT32_MAX && offset % 8 == 0;
    return fits ? Slot(kind, static_cast<int32_t>(offset)) : Slot(kUnusable);
  }

  [[nodiscard]] constexpr Kind kind() const { return static_cast<Kind>(bits_ & 7); }
  [[nodiscard]] constexpr int32_t offset() const { return bits_ & ~7; }
  bool operator==(const Slot&) const = default;

 private:
  int32_t bits_ = kSame;
};

struct UnwindRule {
  CfaKind cfa = CfaKind::kNone;
  uint8_t cfa_register = 0;
  uint8_t is_signal = 0;  // the caller was interrupted, not calling: its address is exact
  uint8_t changed = 0;    // bit per slot, but pc, that moves a register: set by mark_changes()
  int32_t cfa_offset = 0;
  int32_t cfa_addend = 0;
  std::array<Slot, unwind_arch::kTracked.size()> slots = {};  // as kTracked numbers them

  [[nodiscard]] Slot& pc() { return slots[unwind_arch::kPcSlot]; }
  [[nodiscard]] const Slot& pc() const { return slots[unwind_arch::kPcSlot]; }
  // What a step has to look at. The stack pointer is the CFA unless said otherwise.
  void mark_changes() {
    changed = 0;
    for (size_t i = 0; i < unwind_arch::kPcSlot; ++i) {
      const Slot plain(i == unwind_arch::kStackPointerSlot ? Slot::kIsCfa : Slot::kSame);
      if (slots[i] != plain) changed = static_cast<uint8_t>(changed | 1U << i);
    }
  }
  bool operator==(const UnwindRule& other) const {
    return std::memcmp(this, &other, sizeof *this) == 0;
  }
};
static_assert(sizeof(UnwindRule) == 44);  // no padding: compared, hashed and stored as bytes

}  // namespace fathom
