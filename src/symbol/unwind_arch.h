// SPDX-License-Identifier: Apache-2.0
// All the unwinder knows about x86-64: register numbers as DWARF counts them, which of them a
// function must give back, where the kernel lays them in a signal frame, and the few byte patterns
// of code without tables. Another architecture is another version of this file. Plain constants and
// functions: any thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>

namespace fathom::unwind_arch {

constexpr unsigned kFramePointer = 6;
constexpr unsigned kStackPointer = 7;
constexpr unsigned kPc = 16;  // DWARF's "return address" column
constexpr unsigned kRegisters = 17;
constexpr uint32_t kAllRegisters = (1U << kRegisters) - 1;

// The registers a rule says something about: those a call keeps, the stack pointer, the return
// address. rbx and r12 to r15 matter because a frame's address may hang on them (the lazy binder of
// glibc: rbx).
constexpr std::array<uint8_t, 8> kTracked = {3, kFramePointer, 12, 13, 14, 15, kStackPointer, kPc};
constexpr size_t kStackPointerSlot = 6;
constexpr size_t kPcSlot = 7;

// kRegisters where a register is not tracked.
constexpr size_t slot_of(uint64_t dwarf_register) {
  for (size_t slot = 0; slot < kTracked.size(); ++slot)
    if (kTracked[slot] == dwarf_register) return slot;
  return kRegisters;
}

// When a handler has returned into its trampoline, SP points at a ucontext; general registers start
// 40 bytes into it, in this order.
constexpr int32_t kSignalRegisters = 40;
constexpr std::array<uint8_t, kRegisters> kSignalOrder = {8, 9, 10, 11, 12, 13, 14, 15, 5,
                                                          4, 6, 3,  1,  0,  2,  7,  16};
constexpr int32_t kSignalStackPointer = kSignalRegisters + 15 * 8;
constexpr int32_t kSignalPc = kSignalRegisters + 16 * 8;

// mov $15,%rax; syscall: rt_sigreturn, as C libraries without tables spell it.
inline bool is_signal_trampoline(std::span<const uint8_t> code) {
  constexpr std::array<uint8_t, 9> kSigreturn = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
  return code.size() >= kSigreturn.size() &&
         std::memcmp(code.data(), kSigreturn.data(), kSigreturn.size()) == 0;
}

// How far the frame address lies above SP where code without a table is about to push or has just
// pushed its frame pointer, is about to return, or is a stub that jumps on (the PLT of a static
// program): 0 where the next instruction does not tell.
inline int frame_edge_bytes(std::span<const uint8_t> code) {
  if (code.size() < 4) return 0;
  constexpr std::array<uint8_t, 4> kEndbr = {0xf3, 0x0f, 0x1e, 0xfa};
  if (std::memcmp(code.data(), kEndbr.data(), 4) == 0) return 8;
  if (code[0] == 0xc3 || code[0] == 0xc2) return 8;            // ret
  const size_t jump = code[0] == 0xf2 ? 1 : 0;                 // bnd
  if (code[jump] == 0xff && code[jump + 1] == 0x25) return 8;  // jmp *offset(%rip)
  if (code[0] == 0x55 && code[1] == 0x48) return 8;            // push %rbp; mov ...
  const bool move = code[0] == 0x48 &&
                    ((code[1] == 0x89 && code[2] == 0xe5) || (code[1] == 0x8b && code[2] == 0xec));
  return move ? 16 : 0;  // mov %rsp,%rbp
}

// Whether this is the code behind the system call in clone and clone3, which ends a function's
// rows: test %rax,%rax; jl error; je child; ret. The parent's return address is at SP, and a child
// has none.
inline bool is_after_clone(std::span<const uint8_t> code) {
  const auto skip = [&code](std::initializer_list<int> bytes) {  // -1: any
    if (code.size() < bytes.size()) return false;
    const bool same =
        std::equal(bytes.begin(), bytes.end(), code.begin(),
                   [](int wanted, uint8_t byte) { return wanted < 0 || wanted == byte; });
    if (same) code = code.subspan(bytes.size());
    return same;
  };
  (void)(skip({0x48, 0x85, 0xc0}) || skip({0x85, 0xc0}));
  (void)skip({0x7c, -1});
  return skip({0x74, 0x01, 0xc3});
}

// What a frame with a frame pointer looks like: CFA = frame pointer + 16, return address below it.
constexpr int32_t kFramePointerCfa = 16;
constexpr int32_t kReturnAddress = -8;

// Registers in the order of perf's sample_regs_user (PERF_REG_X86_AX ...) as DWARF numbers;
// kRegisters stands for those that unwinding does not use (flags, segments).
constexpr std::array<uint8_t, 24> kPerfOrder = {0,  3,  2,  1,  4, 5, 6,  7,  16, 17, 17, 17,
                                                17, 17, 17, 17, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr uint64_t kPerfMask = 0xff01ff;

}  // namespace fathom::unwind_arch
