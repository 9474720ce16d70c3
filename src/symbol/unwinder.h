// SPDX-License-Identifier: Apache-2.0
// Finds the callers of a thread from its registers and a copy of the top of its stack, with the
// unwind tables of the modules that were mapped at that time. Nothing of the target is touched: it
// may have gone on, exec'ed or exited. Steps by frame pointer where there is no row and the chain
// is plausible, and always says why it stopped. One Unwinder per thread; tables are shared.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "symbol/cfi_cursor.h"
#include "symbol/unwind_arch.h"
#include "symbol/unwind_table.h"

namespace fathom {

// By DWARF number (unwind_arch.h). Unwinding loses those a call may change.
struct UnwindRegisters {
  std::array<uint64_t, unwind_arch::kRegisters> value = {};
  uint32_t known = 0;  // a bit each

  [[nodiscard]] bool has(unsigned which) const { return (known >> which & 1) != 0; }
  void set(unsigned which, uint64_t to) {
    value[which] = to;
    known |= 1U << which;
  }
  void forget(unsigned which) { known &= ~(1U << which); }
  [[nodiscard]] uint64_t pc() const { return value[unwind_arch::kPc]; }
  [[nodiscard]] uint64_t sp() const { return value[unwind_arch::kStackPointer]; }
};

// From a perf sample: one value per bit of `mask` (sample_regs_user), lowest first.
UnwindRegisters registers_from_perf(uint64_t mask, std::span<const uint64_t> values);

struct StackCopy {
  uint64_t address = 0;  // of the first byte: the stack pointer, or a little below
  ByteSpan bytes;
};

// What is mapped around an address.
struct UnwindModule {
  uint64_t start = 0;                  // the answer is the same from here
  uint64_t end = 0;                    // to here; start == end: nothing executable
  const UnwindTable* table = nullptr;  // null: code without one, as a JIT makes it
  uint64_t bias = 0;                   // address - bias is the address as linked
  uint64_t entry = 0;                  // where the kernel starts it, as linked; 0: it does not
};

// The address space at the time of the sample. Answers must hold while unwind() runs.
class UnwindModules {
 public:
  virtual ~UnwindModules() = default;
  virtual UnwindModule find(uint64_t address) = 0;
  // Bytes of code where no table helps, as many as fit and are known.
  virtual size_t read_code(uint64_t address, std::span<uint8_t> to) {
    (void)address, (void)to;
    return 0;
  }
};

enum class UnwoundKind : uint8_t {
  kSampled,     // the innermost: the address is the next instruction
  kCall,        // the address is where a call returns to: the call ends a byte before it
  kInterrupted  // by a signal: the address is the next instruction
};

struct UnwoundFrame {
  uint64_t address = 0;
  uint64_t cfa = 0;  // the frame's own address, the same while the function runs; 0 if unknown
  UnwoundKind kind = UnwoundKind::kSampled;
  bool by_frame_pointer = false;  // its caller was found without a row

  // What to look up symbols with.
  [[nodiscard]] uint64_t lookup_address() const {
    return address - (kind == UnwoundKind::kCall ? 1 : 0);
  }
  bool operator==(const UnwoundFrame&) const = default;
};

enum class UnwindEnd : uint8_t {
  kRoot,       // complete
  kCut,        // the copy is too short: see missing_bytes
  kElsewhere,  // goes on in memory far from the copy (another stack)
  kNoTable,    // code without rows, and no frame pointer that makes sense
  kBadRule,    // a rule we cannot apply: not supported, or it hangs on a lost register
  kBadFrame,   // a frame below its callee, or a return address outside all code
  kTooDeep     // more frames than the limit
};
constexpr size_t kUnwindEnds = 7;
const char* name_of(UnwindEnd end);

struct UnwoundStack {
  std::vector<UnwoundFrame> frames;  // innermost first
  UnwindEnd end = UnwindEnd::kRoot;
  uint64_t missing_bytes = 0;  // kCut: at least so many more
  uint32_t frame_pointer_steps = 0;
};

class Unwinder {
 public:
  static constexpr size_t kMostFrames = 1024;
  explicit Unwinder(UnwindModules& modules, size_t most_frames = kMostFrames)
      : modules_(modules), most_frames_(most_frames) {}

  // Overwrites `to` and keeps its memory. Needs at least pc and sp.
  void unwind(const UnwindRegisters& registers, const StackCopy& copy, UnwoundStack& to);

 private:
  UnwindModules& modules_;
  size_t most_frames_;
};

}  // namespace fathom
