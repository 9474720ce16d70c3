// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwinder.h"

#include <gtest/gtest.h>

#include "symbol/cfi_bytes.h"
#include "symbol/unwind_table_builder.h"

namespace fathom {
namespace {

namespace arch = unwind_arch;

constexpr uint64_t kBias = 0x7f0000000000;
constexpr uint64_t kStack = 0x7ffc00001000;
// Functions of the module, as linked.
constexpr uint64_t kStart = 0x1000;       // the return address is undefined: the root
constexpr uint64_t kPlain = 0x1100;       // CFA = rsp + 8
constexpr uint64_t kFrame = 0x1200;       // CFA = rbp + 16, rbp at CFA - 16
constexpr uint64_t kTrampoline = 0x1300;  // a signal frame
constexpr uint64_t kPopped = 0x1400;      // CFA = rsp + 8, rbp at CFA - 16: already popped
constexpr uint64_t kLost = 0x1500;        // CFA = rax + 8
constexpr uint64_t kPlt = 0x1600;
constexpr uint64_t kInRegister = 0x1700;  // CFA = rsp, return address in rdi
constexpr uint64_t kNoRows = 0x1800;      // code without a row
constexpr uint64_t kJit = 0x100000;       // code without a table

class Fixture : public ::testing::Test, public UnwindModules {
 protected:
  Fixture() {
    CfiWriter writer;
    const size_t cie = writer.usual_cie();
    writer.fde(cie, kStart, 0x80, {0x07, 16});
    writer.fde(cie, kPlain, 0x80, {});
    writer.fde(cie, kFrame, 0x80, {0x0c, 6, 16, 0x86, 2});
    writer.fde(cie, kPopped, 0x80, {0x86, 2});
    writer.fde(cie, kLost, 0x80, {0x0c, 0, 8});
    writer.fde(cie, kPlt, 0x80,
               {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
    writer.fde(cie, kInRegister, 0x80, {0x0e, 0, 0x09, 16, 5});
    const size_t signals = writer.cie("zS", {}, {0x0c, 7, 8, 0x90, 1});
    // One byte early, as libc does it, for look-ups a byte before a return address.
    writer.fde(signals, kTrampoline - 1, 0x11,
               {0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 16, 3, 0x77, 0xa8, 0x01}, {0});
    table_ = build_unwind_table({{writer.section()}, {}});
    registers_.set(arch::kStackPointer, kStack);
  }

  UnwindModule find(uint64_t address) override {
    const uint64_t linked = address - kBias;
    if (linked >= kStart && linked < 0x2000) return {kBias, kBias + 0x2000, &table_, kBias};
    if (linked >= kJit && linked < kJit + 0x1000)
      return {kBias + kJit, kBias + kJit + 0x1000, nullptr, 0};
    return {};
  }
  size_t read_code(uint64_t address, std::span<uint8_t> to) override {
    (void)address;
    const size_t size = std::min(to.size(), code_.size());
    std::copy_n(code_.begin(), size, to.begin());
    return size;
  }

  void push(uint64_t word) { put(stack_, word, 8); }
  void push_code(uint64_t linked) { push(kBias + linked); }
  UnwoundStack unwind(uint64_t linked_pc, size_t most = Unwinder::kMostFrames) {
    registers_.set(arch::kPc, kBias + linked_pc);
    UnwoundStack stack;
    Unwinder(*this, most).unwind(registers_, {kStack, stack_}, stack);
    return stack;
  }
  static std::vector<uint64_t> linked(const UnwoundStack& stack) {
    std::vector<uint64_t> addresses;
    for (const UnwoundFrame& frame : stack.frames) addresses.push_back(frame.address - kBias);
    return addresses;
  }

  UnwindTable table_;
  UnwindRegisters registers_;
  Bytes stack_, code_;
};

using UnwinderTest = Fixture;
using Addresses = std::vector<uint64_t>;

TEST_F(UnwinderTest, ReachesTheRoot) {
  push_code(kPlain + 0x80);  // a call was the last instruction: looked up a byte before
  push_code(kStart + 0x20);
  const UnwoundStack stack = unwind(kPlain + 4);
  EXPECT_EQ(stack.end, UnwindEnd::kRoot);
  EXPECT_EQ(linked(stack), (Addresses{kPlain + 4, kPlain + 0x80, kStart + 0x20}));
  EXPECT_EQ(stack.frames[0].lookup_address(), kBias + kPlain + 4);
  EXPECT_EQ(stack.frames[1].lookup_address(), kBias + kPlain + 0x7f);
  EXPECT_EQ(stack.frames[0].cfa, kStack + 8);
  EXPECT_EQ(stack.frames[1].cfa, kStack + 16);
}

TEST_F(UnwinderTest, AZeroReturnAddressIsTheRoot) {
  push(0);
  EXPECT_EQ(unwind(kPlain).end, UnwindEnd::kRoot);
}

TEST_F(UnwinderTest, FollowsFramePointers) {
  push(77);
  push(kStack + 32);
  push_code(kFrame + 8);
  push(78);
  push(0);
  push_code(kStart + 1);
  registers_.set(arch::kFramePointer, kStack + 8);
  const UnwoundStack stack = unwind(kFrame + 8);
  EXPECT_EQ(stack.end, UnwindEnd::kRoot);
  EXPECT_EQ(stack.frames.size(), 3U);
  EXPECT_EQ(stack.frame_pointer_steps, 0U);
}

TEST_F(UnwinderTest, KeepsARegisterThatWasPopped) {
  push_code(kFrame + 8);
  push(0);
  push_code(kStart + 1);
  registers_.set(arch::kFramePointer, kStack + 8);
  EXPECT_EQ(unwind(kPopped + 8).end, UnwindEnd::kRoot);
}

TEST_F(UnwinderTest, SaysHowMuchIsMissing) {
  push(0);
  registers_.set(arch::kFramePointer, kStack + 4096);
  UnwoundStack stack = unwind(kFrame);
  EXPECT_EQ(stack.end, UnwindEnd::kCut);
  EXPECT_EQ(stack.missing_bytes, 4096U + 8);
  EXPECT_EQ(stack.frames.size(), 1U);
  EXPECT_EQ(stack.frames[0].cfa, kStack + 4096 + 16);
  registers_.set(arch::kFramePointer, kStack + (uint64_t{1} << 40));
  EXPECT_EQ(unwind(kFrame).end, UnwindEnd::kElsewhere);
  stack_.clear();
  stack = unwind(kPlain);
  EXPECT_EQ(stack.end, UnwindEnd::kCut);
  EXPECT_EQ(stack.missing_bytes, 8U);
}

TEST_F(UnwinderTest, GoesThroughASignal) {
  push_code(kTrampoline);
  std::array<uint64_t, 32> context = {};
  const auto word = [&](size_t bytes) -> uint64_t& { return context[bytes / 8]; };
  word(arch::kSignalStackPointer) = kStack + 8 + sizeof context;
  word(arch::kSignalPc) = kBias + kLost;  // exact: a byte before is another function
  word(arch::kSignalRegisters + 13 * 8) = kStack + 8 + sizeof context;  // rax
  for (const uint64_t one : context) push(one);
  push_code(kStart + 1);
  const UnwoundStack stack = unwind(kPlain);
  EXPECT_EQ(stack.end, UnwindEnd::kRoot);
  EXPECT_EQ(linked(stack), (Addresses{kPlain, kTrampoline, kLost, kStart + 1}));
  EXPECT_EQ(stack.frames[2].kind, UnwoundKind::kInterrupted);
  EXPECT_EQ(stack.frames[2].lookup_address(), kBias + kLost);
}

TEST_F(UnwinderTest, KnowsATrampolineByItsCode) {
  code_ = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
  push_code(kJit + 16);
  std::array<uint64_t, 32> context = {};
  context[arch::kSignalPc / 8] = kBias + kStart;
  for (const uint64_t one : context) push(one);
  EXPECT_EQ(linked(unwind(kPlain)), (Addresses{kPlain, kJit + 16, kStart}));
}

TEST_F(UnwinderTest, StubsOfThePltHavePushedFromByte11On) {
  push_code(kStart + 1);
  EXPECT_EQ(unwind(kPlt + 6).frames.size(), 2U);
  stack_.clear();
  push(3);
  push_code(kStart + 1);
  EXPECT_EQ(unwind(kPlt + 11).frames.size(), 2U);
}

TEST_F(UnwinderTest, AReturnAddressMayBeInARegister) {
  registers_.set(5, kBias + kStart + 1);
  EXPECT_EQ(unwind(kInRegister).end, UnwindEnd::kRoot);
}

TEST_F(UnwinderTest, ALostRegisterEndsIt) {
  push_code(kLost + 1);
  push(0);
  registers_.set(0, kStack);
  const UnwoundStack stack = unwind(kPlain);  // rax is not kept over a call
  EXPECT_EQ(stack.end, UnwindEnd::kBadRule);
  EXPECT_EQ(stack.frames.size(), 2U);
}

TEST_F(UnwinderTest, StepsByFramePointerWhereThereIsNoRow) {
  push(kStack + 24);
  push_code(kJit + 8);
  push(1);
  push(0);
  push_code(kStart + 1);
  registers_.set(arch::kFramePointer, kStack);
  UnwoundStack stack = unwind(kNoRows);
  EXPECT_EQ(stack.end, UnwindEnd::kRoot);
  EXPECT_EQ(stack.frame_pointer_steps, 2U);
  EXPECT_TRUE(stack.frames[0].by_frame_pointer);
  registers_.set(arch::kFramePointer, kStack + 1);
  EXPECT_EQ(unwind(kNoRows).end, UnwindEnd::kNoTable);
  registers_.set(arch::kFramePointer, kStack - 8);
  EXPECT_EQ(unwind(kNoRows).end, UnwindEnd::kNoTable);
  registers_.set(arch::kFramePointer, kStack + 8);  // the word above is no code
  EXPECT_EQ(unwind(kNoRows).end, UnwindEnd::kNoTable);
}

TEST_F(UnwinderTest, ReadsTheEdgesOfFrames) {
  code_ = {0x55, 0x48, 0x89, 0xe5};  // push %rbp: nothing is on the stack yet
  push_code(kStart + 1);
  EXPECT_EQ(unwind(kJit).end, UnwindEnd::kRoot);
  code_ = {0x48, 0x89, 0xe5, 0x90};  // mov %rsp,%rbp: the caller's is
  stack_.clear();
  push(5);
  push_code(kStart + 1);
  EXPECT_EQ(unwind(kJit).end, UnwindEnd::kRoot);
}

TEST_F(UnwinderTest, ACallToNowhere) {
  push_code(kStart + 1);
  registers_.set(arch::kPc, 0x10);
  UnwoundStack stack;
  Unwinder(*this).unwind(registers_, {kStack, stack_}, stack);
  EXPECT_EQ(stack.end, UnwindEnd::kRoot);
  EXPECT_EQ(stack.frames.size(), 2U);
}

TEST_F(UnwinderTest, DropsReturnAddressesThatAreNoCode) {
  push(12345);
  const UnwoundStack stack = unwind(kPlain);
  EXPECT_EQ(stack.end, UnwindEnd::kBadFrame);
  EXPECT_EQ(stack.frames.size(), 1U);
}

TEST_F(UnwinderTest, IsBounded) {
  for (int i = 0; i < 100; ++i) push_code(kPlain + 1);
  EXPECT_EQ(unwind(kPlain, 64).end, UnwindEnd::kTooDeep);
  EXPECT_EQ(unwind(kPlain, 64).frames.size(), 64U);
  // A frame that points at itself.
  stack_.clear();
  push(kStack);
  push_code(kFrame + 1);
  registers_.set(arch::kFramePointer, kStack);
  EXPECT_EQ(unwind(kFrame).end, UnwindEnd::kBadFrame);
}

TEST(UnwindRegisters, FromPerf) {
  // AX, BP, SP, IP, FLAGS, R15.
  const uint64_t mask = 1U | 1U << 6 | 1U << 7 | 1U << 8 | 1U << 9 | 1U << 23;
  const std::array<uint64_t, 6> values = {1, 2, 3, 4, 5, 6};
  const UnwindRegisters registers = registers_from_perf(mask, values);
  EXPECT_EQ(registers.value[0], 1U);
  EXPECT_EQ(registers.value[arch::kFramePointer], 2U);
  EXPECT_EQ(registers.sp(), 3U);
  EXPECT_EQ(registers.pc(), 4U);
  EXPECT_EQ(registers.value[15], 6U);
  EXPECT_FALSE(registers.has(3));
  EXPECT_EQ(std::popcount(registers.known), 5);
}

}  // namespace
}  // namespace fathom
