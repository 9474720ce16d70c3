// SPDX-License-Identifier: Apache-2.0
#include "symbol/symbol_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace fathom {
namespace {

std::string name_at(const SymbolTable& table, uint64_t address) {
  const auto symbol = table.find(address);
  return symbol ? std::string(symbol->name) : "-";
}

TEST(SymbolTable, EmptyFindsNothing) {
  const SymbolTable table = SymbolTableBuilder().build();
  EXPECT_FALSE(table.find(0).has_value());
  EXPECT_FALSE(table.find(UINT64_MAX).has_value());
}

TEST(SymbolTable, BoundsAndGaps) {
  SymbolTableBuilder builder;
  builder.add(200, 10, SymbolRank::kGlobal, "b");
  builder.add(100, 10, SymbolRank::kGlobal, "a");
  const SymbolTable table = builder.build();
  EXPECT_EQ(name_at(table, 99), "-");
  EXPECT_EQ(name_at(table, 100), "a");
  EXPECT_EQ(name_at(table, 109), "a");
  EXPECT_EQ(name_at(table, 110), "-");
  EXPECT_EQ(name_at(table, 205), "b");
  EXPECT_EQ(table.find(205)->start, 200U);
  EXPECT_EQ(table.find(205)->size, 10U);
}

TEST(SymbolTable, InnerWinsAndOuterGoesOn) {
  SymbolTableBuilder builder;
  builder.add(100, 100, SymbolRank::kGlobal, "outer");
  builder.add(120, 10, SymbolRank::kLocal, "inner");
  builder.add(122, 2, SymbolRank::kLocal, "innermost");
  const SymbolTable table = builder.build();
  EXPECT_EQ(name_at(table, 119), "outer");
  EXPECT_EQ(name_at(table, 121), "inner");
  EXPECT_EQ(name_at(table, 123), "innermost");
  EXPECT_EQ(name_at(table, 129), "inner");
  EXPECT_EQ(name_at(table, 150), "outer");
}

TEST(SymbolTable, AliasesAndRanks) {
  SymbolTableBuilder builder;
  builder.add(1, 5, SymbolRank::kGlobal, "__libc_write");
  builder.add(1, 5, SymbolRank::kGlobal, "write");
  builder.add(1, 5, SymbolRank::kGlobal, "__write");
  builder.add(10, 5, SymbolRank::kLocal, "a");
  builder.add(10, 5, SymbolRank::kGlobal, "longer_but_global");
  builder.add(20, 5, SymbolRank::kLabel, "b");
  builder.add(20, 5, SymbolRank::kLocal, "function_before_label");
  const SymbolTable table = builder.build();
  EXPECT_EQ(name_at(table, 1), "write");
  EXPECT_EQ(name_at(table, 10), "longer_but_global");
  EXPECT_EQ(name_at(table, 20), "function_before_label");
}

TEST(SymbolTable, WithoutSize) {
  SymbolTableBuilder builder;
  const uint32_t names = builder.add_names(std::string("\0a\0b\0label\0sized\0", 18));
  builder.add(100, 0, 1000, SymbolRank::kGlobal, names, 1);
  builder.add(140, 0, 150, SymbolRank::kGlobal, names, 3);
  builder.add(210, 0, 1000, SymbolRank::kLabel, names, 5);
  builder.add(200, 50, 1000, SymbolRank::kGlobal, names, 11);
  const SymbolTable table = builder.build();
  EXPECT_EQ(name_at(table, 139), "a");
  EXPECT_EQ(name_at(table, 149), "b");
  EXPECT_EQ(name_at(table, 150), "-");  // its section ended
  EXPECT_EQ(name_at(table, 220), "sized");
}

TEST(SymbolTable, NamesOfSeveralStringTables) {
  SymbolTableBuilder builder;
  const std::string longest(SymbolTableBuilder::kMaxNameBytes + 10, 'x');
  const uint32_t small = builder.add_names(std::string("\0small\0", 7));
  const uint32_t large = builder.add_names('\0' + longest + std::string("\0pwrite", 7));
  builder.add(100, 10, 1000, SymbolRank::kGlobal, small, 1);
  builder.add(200, 10, 1000, SymbolRank::kGlobal, large, 1);
  builder.add(300, 10, 1000, SymbolRank::kGlobal, large, static_cast<uint32_t>(longest.size()) + 2);
  builder.add(400, 10, 1000, SymbolRank::kGlobal, large, static_cast<uint32_t>(longest.size()) + 3);
  builder.add(500, 10, SymbolRank::kGlobal, "of its own");
  const SymbolTable table = builder.build();
  EXPECT_EQ(name_at(table, 100), "small");
  EXPECT_EQ(name_at(table, 200), longest.substr(10));
  EXPECT_EQ(name_at(table, 300), "pwrite");  // the table ends without NUL
  EXPECT_EQ(name_at(table, 400), "write");
  EXPECT_EQ(name_at(table, 500), "of its own");
}

TEST(SymbolTable, AnyOrderGivesTheSameTable) {
  std::vector<uint64_t> starts;
  std::mt19937_64 random(7);
  for (int i = 0; i < 3000; ++i) starts.push_back((random() >> random() % 64) & ~uint64_t{15});
  for (int round = 0; round < 3; ++round) {
    SymbolTableBuilder builder;
    for (const uint64_t start : starts)
      builder.add(start, 8, SymbolRank::kGlobal, std::to_string(start));
    const SymbolTable table = builder.build();
    EXPECT_EQ(table.size(), std::set<uint64_t>(starts.begin(), starts.end()).size());
    for (const uint64_t start : starts) {
      const auto found = table.find(start + 7);
      ASSERT_TRUE(found);
      ASSERT_EQ(found->name, std::to_string(start));
    }
    if (round == 0) std::ranges::shuffle(starts, random);
    if (round == 1) std::ranges::sort(starts);
  }
}

TEST(SymbolTable, HostileNestingAndNamesAreBounded) {
  SymbolTableBuilder builder;
  const uint32_t names = builder.add_names("\0" + std::string(100'000, 'x'));
  for (uint64_t i = 0; i < 100'000; ++i)
    builder.add(i, 1'000'000 - 2 * i, UINT64_MAX, SymbolRank::kGlobal, names, 1);
  builder.add(UINT64_MAX - 1, 100, UINT64_MAX, SymbolRank::kGlobal, names, 1);  // wraps
  builder.add(5, 5, UINT64_MAX, SymbolRank::kGlobal, names, 1'000'000);         // no such name
  builder.add(5, 5, UINT64_MAX, SymbolRank::kGlobal, names + 1, 0);             // no such pool
  const SymbolTable table = builder.build();
  EXPECT_GE(builder.refused(), 3U);
  EXPECT_LT(table.memory_bytes(), 8U << 20);
  EXPECT_TRUE(table.find(900'000).has_value());
  EXPECT_FALSE(table.find(999'995).has_value());  // hundreds deep: given up, not crawled through
}

}  // namespace
}  // namespace fathom
