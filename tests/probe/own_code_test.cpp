// SPDX-License-Identifier: Apache-2.0
#include "probe/own_code.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>

#include <array>

#include "base/fd.h"

namespace fathom {
namespace {

// Returns `value`, so that programs of other values have other tags.
Fd load_program(int value) {
  const std::array<bpf_insn, 2> code = {
      bpf_insn{
          .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = value},
      bpf_insn{.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
  return Fd(
      bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "own", "GPL", code.data(), code.size(), nullptr));
}

// As the kernel lists it among its symbols.
std::string symbol_of(const Fd& program) {
  bpf_prog_info info{};
  uint32_t length = sizeof info;
  EXPECT_EQ(bpf_obj_get_info_by_fd(program.get(), &info, &length), 0);
  std::string text = "bpf_prog_";
  for (const uint8_t byte : info.tag) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text + "_own";
}

TEST(OwnCode, LibrariesAreKnownByTheirNames) {
  EXPECT_TRUE(OwnCode::is_library("/opt/lib/libfathom-io.so"));
  EXPECT_TRUE(OwnCode::is_library("libfathom-io-malloc.so"));
  EXPECT_FALSE(OwnCode::is_library("/lib/x86_64-linux-gnu/libc.so.6"));
  EXPECT_FALSE(OwnCode::is_library("/opt/libfathom-io.so/other.so"));
}

TEST(OwnCode, OnlyProgramsOfThisProcessAreItsOwn) {
  OwnCode code;
  EXPECT_EQ(code.kernel_code("bpf_prog_0123456789abcdef_other"), KernelCode::kForeignProgram);
  Fd program = load_program(4711);
  if (!program.valid()) GTEST_SKIP() << "loading BPF programs needs root";
  const std::string symbol = symbol_of(program);
  EXPECT_EQ(code.kernel_code(symbol), KernelCode::kOwnProgram);
  EXPECT_TRUE(code.has_programs());
  program = {};
  EXPECT_EQ(OwnCode().kernel_code(symbol), KernelCode::kForeignProgram);
}

TEST(OwnCode, WhatCallsProgramsIsKnown) {
  OwnCode code;
  EXPECT_EQ(code.kernel_code("bpf_trace_run2"), KernelCode::kTracepoint);
  EXPECT_EQ(code.kernel_code("__bpf_trace_sys_enter"), KernelCode::kTracepoint);
  EXPECT_EQ(code.kernel_code("bpf_task_storage_get"), KernelCode::kBpf);
  EXPECT_EQ(code.kernel_code("vfs_write"), KernelCode::kOther);
}

}  // namespace
}  // namespace fathom
