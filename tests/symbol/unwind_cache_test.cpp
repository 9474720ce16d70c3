// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_cache.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/fd.h"
#include "support/temp_folder.h"
#include "symbol/cfi_bytes.h"
#include "symbol/unwind_table_builder.h"

namespace fathom {
namespace {

constexpr const char* kId = "0123456789abcdef";

Result<UnwindTable> small_table() {
  CfiWriter writer;
  writer.fde(writer.usual_cie(), 0x1000, 0x10, {});
  return build_unwind_table({{writer.section()}, {}});
}

TEST(UnwindCache, BuildsOnce) {
  UnwindCache cache;
  const auto first = cache.get(kId, small_table);
  const auto second = cache.get(kId, small_table);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first.value(), second.value());
  EXPECT_EQ(cache.counts().built, 1U);
  EXPECT_EQ(cache.counts().from_memory, 1U);
  EXPECT_TRUE(cache.get("", small_table).ok());
  EXPECT_EQ(cache.counts().built, 2U);
}

TEST(UnwindCache, RemembersFailures) {
  UnwindCache cache;
  int asked = 0;
  const auto fail = [&]() -> Result<UnwindTable> {
    ++asked;
    return Error{Code::kNotFound, "no call frame information"};
  };
  EXPECT_FALSE(cache.get(kId, fail).ok());
  EXPECT_FALSE(cache.get(kId, fail).ok());
  EXPECT_EQ(asked, 1);
  cache.drop_unused();
  EXPECT_FALSE(cache.get(kId, fail).ok());
  EXPECT_EQ(asked, 2);
}

TEST(UnwindCache, DropsWhatNobodyHolds) {
  UnwindCache cache;
  auto held = cache.get(kId, small_table);
  EXPECT_GT(cache.memory_bytes(), 0U);
  cache.drop_unused();
  EXPECT_GT(cache.memory_bytes(), 0U);
  held = Error{Code::kNotFound, ""};
  cache.drop_unused();
  EXPECT_EQ(cache.memory_bytes(), 0U);
}

TEST(UnwindCache, KeepsTablesOnDisk) {
  const TempFolder folder;
  const std::string path = folder.path() + "/tables";
  {
    UnwindCache cache(path);
    ASSERT_TRUE(cache.get(kId, small_table).ok());
    ASSERT_TRUE(cache.get("../no build id", small_table).ok());
    EXPECT_EQ(cache.counts().not_stored, 0U);
  }
  const std::string file = path + "/" + kId + ".unwind";
  ASSERT_TRUE(std::filesystem::exists(file));
  UnwindCache second(path);
  const auto table = second.get(kId, small_table);
  ASSERT_TRUE(table.ok());
  EXPECT_NE(table.value()->find(0x1008), nullptr);
  EXPECT_EQ(second.counts().from_disk, 1U);
  EXPECT_EQ(second.counts().built, 0U);

  std::string bytes = read_file(file).value();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  ASSERT_TRUE(write_file(file, bytes).ok());
  UnwindCache third(path);  // damaged: built anew
  EXPECT_TRUE(third.get(kId, small_table).ok());
  EXPECT_EQ(third.counts().built, 1U);
}

}  // namespace
}  // namespace fathom
