// SPDX-License-Identifier: Apache-2.0
#include "record/schema.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "record/frame_layout.h"

namespace fathom {
namespace {

TEST(SchemaTest, NamesAreUniqueAndEverythingIsExplained) {
  std::set<std::string> tables;
  for_each_table([&]<class Record>() {
    EXPECT_TRUE(tables.insert(TableOf<Record>::kName).second) << TableOf<Record>::kName;
    EXPECT_STRNE(TableOf<Record>::kHelp, "");
    std::set<std::string> columns;
    for_each_field<Record>([&](const auto& field, uint32_t number) {
      SCOPED_TRACE(std::string(TableOf<Record>::kName) + "." + field.name);
      EXPECT_TRUE(columns.insert(field.name).second);
      EXPECT_EQ(number, columns.size() + frame_layout::kRowCount);
      EXPECT_LT(number, frame_layout::kBucketsOffset);
      EXPECT_STRNE(field.help, "");
    });
  });
  EXPECT_EQ(tables.size(), kTableCount);
}

TEST(SchemaTest, UnitsAgreeWithNames) {
  for_each_table([&]<class Record>() {
    for_each_field<Record>([&](const auto& field, uint32_t) {
      const std::string name = field.name;
      SCOPED_TRACE(std::string(TableOf<Record>::kName) + "." + name);
      const std::string unit = field.unit;
      EXPECT_TRUE(!name.ends_with("_ns") || unit == "ns");
      EXPECT_TRUE(!name.ends_with("_bytes") || unit == "bytes");
    });
  });
}

// A column that is stored as a difference to another can only be read after it.
TEST(SchemaTest, ABaseComesBefore) {
  for_each_table([&]<class Record>() {
    for_each_field<Record>([&]<class Member>(const Field<Record, Member>& field, uint32_t number) {
      if (field.base == nullptr) return;
      EXPECT_TRUE((std::is_same_v<Member, Maybe>)) << field.name;
      uint32_t base_number = 0;
      for_each_field<Record>([&]<class Other>(const Field<Record, Other>& other, uint32_t at) {
        if constexpr (std::is_same_v<Member, Other>) {
          if (other.member == field.base) base_number = at;
        }
      });
      EXPECT_GT(base_number, 0U) << field.name;
      EXPECT_LT(base_number, number) << field.name;
    });
  });
}

TEST(SchemaTest, OnlyTimesAreDeltas) {
  for_each_table([&]<class Record>() {
    for_each_field<Record>([&]<class Member>(const Field<Record, Member>& field, uint32_t) {
      EXPECT_TRUE(field.coding == Coding::kPlain || (std::is_same_v<Member, int64_t>));
    });
  });
}

TEST(SchemaTest, SetsOfTables) {
  EXPECT_EQ((tables_of<fathom::Run, ProbeStatus>()), 3U);
  EXPECT_EQ(tables_of<Step>(), 1U << (kTableCount - 1));
  EXPECT_EQ(kAllTables, (1U << kTableCount) - 1);
}

}  // namespace
}  // namespace fathom
