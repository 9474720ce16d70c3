// SPDX-License-Identifier: Apache-2.0
#include "base/reread.h"

#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace fathom {
namespace {

TEST(Reread, TellsWhatTheFileHoldsNow) {
  const TempFolder folder;
  const std::string path = folder / "file";
  ASSERT_TRUE(write_file(path, "one").ok());
  const RereadFile file(path);
  EXPECT_EQ(file.read(), "one");
  const std::string large(20'000, 'x');
  ASSERT_TRUE(write_file(path, large).ok());
  EXPECT_EQ(file.read(), large.substr(0, 4096));
  EXPECT_EQ(file.read_all(), large);
  ASSERT_TRUE(write_file(path, "two").ok());
  EXPECT_EQ(file.read_all(), "two");
}

// A file of records, which the kernel hands out a page at a time.
TEST(Reread, AllOfAFileOfTheKernel) {
  const RereadFile file("/proc/kallsyms");
  if (!file.valid()) GTEST_SKIP() << "no /proc/kallsyms here";
  const std::string_view text = file.read_all();
  EXPECT_GT(text.size(), 100'000U);
  EXPECT_EQ(text.back(), '\n');
}

TEST(Reread, NothingOfAFileThatIsNotThere) {
  const RereadFile file("/nowhere/at/all");
  EXPECT_FALSE(file.valid());
  EXPECT_EQ(file.read(), "");
  EXPECT_EQ(file.read_all(), "");
}

}  // namespace
}  // namespace fathom
