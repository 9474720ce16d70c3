// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_table.h"

#include <gtest/gtest.h>

#include "symbol/cfi_bytes.h"
#include "symbol/unwind_table_builder.h"
#include "symbol/unwind_table_file.h"

namespace fathom {
namespace {

namespace arch = unwind_arch;

UnwindTable built(const CfiWriter& writer) { return build_unwind_table({{writer.section()}, {}}); }

// A function at 0x1000 of 0x40 bytes with these instructions.
UnwindTable table_of(const Bytes& program) {
  CfiWriter writer;
  const size_t cie = writer.usual_cie();
  writer.fde(cie, 0x1000, 0x40, program);
  return built(writer);
}

Slot slot(const UnwindRule& rule, unsigned which) { return rule.slots[arch::slot_of(which)]; }

TEST(UnwindTable, FollowsPrologueAndEpilogue) {
  // push %rbp; mov %rsp,%rbp; ...; leave; ret, then the body again.
  const UnwindTable table =
      table_of({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x50, 0x0a, 0x0c, 7, 8, 0xc6, 0x41, 0x0b});
  const UnwindRule* rule = table.find(0x1000);
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->cfa_register, arch::kStackPointer);
  EXPECT_EQ(rule->cfa_offset, 8);
  EXPECT_EQ(slot(*rule, 6).kind(), Slot::kSame);
  rule = table.find(0x1001);
  EXPECT_EQ(rule->cfa_offset, 16);
  EXPECT_EQ(slot(*rule, 6), Slot(Slot::kAtCfa, -16));
  rule = table.find(0x1010);
  EXPECT_EQ(rule->cfa_register, arch::kFramePointer);
  EXPECT_EQ(rule->cfa_offset, 16);
  rule = table.find(0x1014);
  EXPECT_EQ(rule->cfa_register, arch::kStackPointer);
  EXPECT_EQ(slot(*rule, 6).kind(), Slot::kSame);
  rule = table.find(0x1015);
  EXPECT_EQ(rule->cfa_register, arch::kFramePointer);
  EXPECT_EQ(table.find(0x103f), rule);
  EXPECT_EQ(table.find(0x1040), nullptr);
  EXPECT_EQ(table.find(0xfff), nullptr);
  EXPECT_TRUE(table.uses_frame_pointers());
}

TEST(UnwindTable, ReadsExpressions) {
  // The rule of the PLT.
  UnwindTable table =
      table_of({0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
  const UnwindRule* rule = table.find(0x1000);
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->cfa, CfaKind::kPlt);
  EXPECT_EQ(rule->cfa_offset, 8);
  EXPECT_EQ(rule->cfa_addend, 11);
  // A realigned stack: CFA = *(rbp - 8), rbx saved at rbp - 24.
  table = table_of({0x0f, 3, 0x76, 0x78, 0x06, 0x10, 3, 2, 0x76, 0x68});
  rule = table.find(0x1000);
  EXPECT_EQ(rule->cfa, CfaKind::kDeref);
  EXPECT_EQ(rule->cfa_register, arch::kFramePointer);
  EXPECT_EQ(rule->cfa_offset, -8);
  EXPECT_EQ(slot(*rule, 3), Slot(Slot::kAtFrame, -24));
  // A load and a sum, as assembler writes it: *(rsp + 152) + 8.
  table = table_of({0x0f, 6, 0x77, 0x98, 0x01, 0x06, 0x23, 8});
  EXPECT_EQ(table.find(0x1000)->cfa_addend, 8);
  EXPECT_EQ(table.counts().partly_read, 0U);
  // Two loads are beyond us: counted, and no crash.
  table = table_of({0x0f, 4, 0x77, 8, 0x06, 0x06});
  EXPECT_EQ(table.find(0x1000)->cfa, CfaKind::kUnsupported);
  EXPECT_EQ(table.counts().partly_read, 1U);
}

TEST(UnwindTable, KnowsTheSignalFrame) {
  CfiWriter writer;
  const size_t cie = writer.cie("zS", {}, {0x0c, 7, 8, 0x90, 1});
  // CFA = *(rsp + 160), return address at rsp + 168, as libc's __restore_rt says.
  writer.fde(cie, 0x1000, 0x10, {0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 16, 3, 0x77, 0xa8, 0x01},
             {0});
  const UnwindTable table = built(writer);
  ASSERT_NE(table.find(0x1000), nullptr);
  EXPECT_EQ(table.find(0x1000)->cfa, CfaKind::kSignal);
  EXPECT_EQ(table.find(0x1000)->cfa_offset, 0);
}

TEST(UnwindTable, SortsMergesAndMarksGaps) {
  CfiWriter writer;
  const size_t cie = writer.usual_cie();
  writer.fde(cie, 0x2000, 0x10, {});
  writer.fde(cie, 0x1000, 0x20, {});
  writer.fde(cie, 0x1020, 0x20, {});         // goes on with the same rule
  writer.fde(cie, 0x1048, 0x8, {});          // after padding
  writer.fde(cie, 0x1038, 0x8, {0x0e, 32});  // inside another: cuts it
  const UnwindTable table = built(writer);
  EXPECT_EQ(table.find(0x1000), table.find(0x102f));
  EXPECT_EQ(table.find(0x1038)->cfa_offset, 32);
  EXPECT_NE(table.find(0x1044), nullptr);
  EXPECT_EQ(table.find(0x1050), nullptr);
  EXPECT_EQ(table.find(0x1fff), nullptr);
  EXPECT_NE(table.find(0x2000), nullptr);
  EXPECT_EQ(table.find(0x2010), nullptr);
  EXPECT_EQ(table.counts().overlaps, 1U);
  EXPECT_TRUE(UnwindTable::is_sound(table.rows()));
}

TEST(UnwindTable, LeavesOutWhatIsNoCode) {
  CfiWriter writer(true);
  const size_t cie = writer.usual_cie();
  writer.fde(cie, 0, 0x10, {});  // a discarded section
  writer.fde(cie, 0x1000, 0x10, {});
  const UnwindTable table = build_unwind_table({{writer.section()}, {{0x1000, 0x2000}}});
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_NE(table.find(0x1000), nullptr);
  EXPECT_EQ(table.counts().outside, 1U);
}

TEST(UnwindTable, KnowsWhereFunctionsStart) {
  CfiWriter writer;
  const size_t cie = writer.usual_cie();
  writer.fde(cie, 0x1040, 0x20, {});  // the same rule as its neighbour: one row
  writer.fde(cie, 0x1000, 0x40, {0x41, 0x0e, 16, 0x42, 0x0e, 8});
  writer.fde(cie, 0x2000, 0x10, {});
  const UnwindTable table = build_unwind_table({{writer.section()}, {}});
  const auto again = decode_unwind_table(encode_unwind_table(table));
  ASSERT_TRUE(again.ok());
  for (const UnwindTable* each : {&table, &again.value()}) {
    const auto start = [&](uint64_t address) { return each->function_start(address).value_or(0); };
    EXPECT_EQ(start(0xfff), 0U);
    EXPECT_EQ(start(0x1000), 0x1000U);
    EXPECT_EQ(start(0x103f), 0x1000U);
    EXPECT_EQ(start(0x1040), 0x1040U);
    EXPECT_EQ(start(0x105f), 0x1040U);
    EXPECT_EQ(start(0x1060), 0U);
    EXPECT_EQ(start(0x200f), 0x2000U);
    EXPECT_EQ(start(0x2010), 0U);
  }
  UnwindTable::View rows = table.rows();
  std::vector<uint32_t> functions(rows.functions.begin(), rows.functions.end());
  std::swap(functions[0], functions[1]);
  rows.functions = functions;
  EXPECT_FALSE(UnwindTable::is_sound(rows));
}

TEST(UnwindTable, SpansAllThatAnOffsetCan) {
  UnwindTable::Rows rows;
  rows.base = 0x1000;
  rows.starts = {0, 0x10, UINT32_MAX};
  rows.rule_ids = {0, 1, 0};
  rows.rules.resize(2);
  for (UnwindRule& rule : rows.rules) {
    rule.cfa = CfaKind::kRegister;
    rule.mark_changes();
  }
  const UnwindTable table(rows);
  const auto rule_at = [&](uint64_t address) {
    return table.find(address) - table.rows().rules.data();
  };
  EXPECT_TRUE(UnwindTable::is_sound(table.rows()));
  EXPECT_EQ(rule_at(0x100f), 0);
  EXPECT_EQ(rule_at(0x1010), 1);
  EXPECT_EQ(rule_at(0x1000 + uint64_t{UINT32_MAX} - 1), 1);
  EXPECT_EQ(table.find(0x1000 + uint64_t{UINT32_MAX}), nullptr);
}

TEST(UnwindTable, RefusesAnIndexThatLeadsAstray) {
  const UnwindTable table = table_of({0x41, 0x0e, 16, 0x42, 0x0e, 8});
  const std::vector<uint32_t> whole(table.rows().index.begin(), table.rows().index.end());
  ASSERT_GE(whole.size(), 2U);
  const auto is_sound = [&](const std::vector<uint32_t>& index) {
    UnwindTable::View rows = table.rows();
    rows.index = index;
    return UnwindTable::is_sound(rows);
  };
  EXPECT_TRUE(is_sound(whole));
  EXPECT_FALSE(is_sound({}));
  EXPECT_FALSE(is_sound(std::vector<uint32_t>(whole.size() + 1, 1)));
  std::vector<uint32_t> before_the_first = whole, past_the_last = whole, falling = whole;
  before_the_first.front() = 0;
  past_the_last.back() = static_cast<uint32_t>(table.rows().starts.size() + 1);
  falling.front() = whole.back() + 1;
  EXPECT_FALSE(is_sound(before_the_first));
  EXPECT_FALSE(is_sound(past_the_last));
  EXPECT_FALSE(is_sound(falling));
}

TEST(UnwindTable, EarlierSectionsWin) {
  CfiWriter first, second(true);
  first.fde(first.usual_cie(), 0x1000, 0x10, {0x0e, 16});
  const size_t cie = second.usual_cie();
  second.fde(cie, 0x1000, 0x10, {0x0e, 32});
  second.fde(cie, 0x1010, 0x10, {0x0e, 48});
  const UnwindTable table = build_unwind_table({{first.section(), second.section()}, {}});
  EXPECT_EQ(table.find(0x1000)->cfa_offset, 16);
  EXPECT_EQ(table.find(0x1010)->cfa_offset, 48);
}

TEST(UnwindTable, BadInstructionsEndWhatIsKnown) {
  const UnwindTable table = table_of({0x0e, 16, 0x44, 0x3f});
  EXPECT_EQ(table.find(0x1000)->cfa_offset, 16);
  EXPECT_EQ(table.find(0x1004)->cfa, CfaKind::kUnsupported);
  EXPECT_EQ(table.counts().bad_programs, 1U);
  EXPECT_EQ(table_of({0x0b}).counts().bad_programs, 1U);            // nothing to restore
  EXPECT_EQ(table_of(Bytes(100, 0x0a)).counts().bad_programs, 1U);  // too much remembered
}

TEST(UnwindTable, EveryCutAndEveryFlippedBit) {
  CfiWriter writer;
  const size_t cie = writer.cie("zR", {0x00}, {0x0c, 7, 8, 0x90, 1});
  writer.fde(cie, 0x1000, 0x40, {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x02, 9, 0x0c, 7, 8},
             {0});
  writer.fde(cie, 0x1040, 0x10, {0x0f, 3, 0x76, 0x78, 0x06, 0x10, 3, 2, 0x76, 0x68, 0x44, 0x0e, 8},
             {0});
  const auto look_up = [](const UnwindTable& table) {
    EXPECT_TRUE(UnwindTable::is_sound(table.rows()));
    for (uint64_t address = 0xff0; address < 0x1060; ++address) (void)table.find(address);
    for (unsigned bit = 0; bit < 64; ++bit) (void)table.find(uint64_t{1} << bit);
  };
  const Bytes whole = writer.bytes();
  for (size_t size = 0; size <= whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    look_up(build_unwind_table({{{cut, 0, false, false}}, {}}));
    look_up(build_unwind_table({{{cut, 0, true, false}}, {}}));
  }
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] = static_cast<uint8_t>(flipped[bit / 8] ^ 1U << bit % 8);
    look_up(build_unwind_table({{{flipped, 0, false, false}}, {}}));
  }
}

TEST(UnwindTableFile, GoesThereAndBack) {
  const UnwindTable table = table_of({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6});
  const std::string bytes = encode_unwind_table(table);
  const auto again = decode_unwind_table(bytes);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(std::ranges::equal(again.value().rows().starts, table.rows().starts));
  EXPECT_TRUE(std::ranges::equal(again.value().rows().index, table.rows().index));
  for (uint64_t address = 0xff0; address < 0x1050; ++address) {
    const UnwindRule* wanted = table.find(address);
    const UnwindRule* found = again.value().find(address);
    ASSERT_EQ(wanted == nullptr, found == nullptr);
    if (wanted != nullptr) {
      EXPECT_EQ(*wanted, *found);
    }
  }
  EXPECT_EQ(again.value().counts().fdes, 1U);
}

TEST(UnwindTableFile, RefusesDamage) {
  const std::string whole = encode_unwind_table(table_of({0x41, 0x0e, 16}));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(decode_unwind_table(whole.substr(0, size)).ok());
  for (size_t byte = 0; byte < whole.size(); ++byte) {
    std::string flipped = whole;
    flipped[byte] = static_cast<char>(flipped[byte] ^ 0x10);
    EXPECT_FALSE(decode_unwind_table(flipped).ok()) << byte;
  }
}

}  // namespace
}  // namespace fathom
