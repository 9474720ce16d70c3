// SPDX-License-Identifier: Apache-2.0
#include "symbol/kernel_symbols.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::string_view kSymbolList =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000000 T startup_64\n"
    "ffffffff81000100 t __do_it\n"
    "ffffffff81000100 T do_it\n"
    "ffffffff81000180 D some_data\n"
    "ffffffff81000200 W weak_one\n"
    "ffffffff81000300 T _etext\n"
    "ffffffffc0000000 t ext4_sync_file\t[ext4]\n"
    "ffffffffc0100000 t bpf_prog_6deef7357e7b4530\t[bpf]\n"
    "nonsense\nffffffff81000400\nffffffff81000400 T\nffffffff81000400 T \n";

TEST(KernelSymbols, Finds) {
  const auto symbols = KernelSymbols::parse(kSymbolList);
  ASSERT_TRUE(symbols.ok());
  const auto name = [&](uint64_t address) {
    const auto found = symbols.value().find(address);
    return found ? std::string(found->module) + std::string(found->name) : "-";
  };
  EXPECT_EQ(name(0xffffffff80ffffff), "-");
  EXPECT_EQ(name(0xffffffff81000050), "[kernel]startup_64");
  EXPECT_EQ(name(0xffffffff81000150), "[kernel]do_it");
  EXPECT_EQ(name(0xffffffff810002ff), "[kernel]weak_one");
  EXPECT_EQ(name(0xffffffff81000310), "-");
  EXPECT_EQ(name(0xffffffffc0000010), "[ext4]ext4_sync_file");
  EXPECT_EQ(name(0xffffffffc0100000), "[bpf]bpf_prog_6deef7357e7b4530");
  EXPECT_EQ(name(0xfffffffff0000000), "-");
}

TEST(KernelSymbols, HiddenSaysHow) {
  const auto symbols = KernelSymbols::parse("0000000000000000 T _text\n0000000000000000 t do_it\n");
  ASSERT_FALSE(symbols.ok());
  EXPECT_EQ(symbols.error().code, Code::kPermission);
  EXPECT_NE(symbols.error().hint.find("kptr_restrict"), std::string::npos);
  EXPECT_EQ(KernelSymbols::parse("").error().code, Code::kNotFound);
}

TEST(KernelSymbols, OfThisMachine) {
  const auto symbols = KernelSymbols::load();
  if (!symbols.ok()) GTEST_SKIP() << symbols.error().message;
  EXPECT_GT(symbols.value().size(), 10'000U);
  for (const char* wanted : {"vfs_read", "schedule"}) {
    bool seen = false;
    for (uint64_t at = 0xffffffff81000000; at < 0xffffffff84000000 && !seen; at += 16) {
      const auto found = symbols.value().find(at);
      seen = found && found->name == wanted;
    }
    EXPECT_TRUE(seen || symbols.value().find(0xffffffff81000000) == std::nullopt) << wanted;
  }
}

}  // namespace
}  // namespace fathom
