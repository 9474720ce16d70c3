// SPDX-License-Identifier: Apache-2.0
#include "probe/io/coverage.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::string_view kProgram = "55d0-55d1 r-xp 00000000 08:01 12 /usr/bin/tar\n";
constexpr std::string_view kOthers = "7f00-7f01 r-xp 00000000 08:01 14 /usr/lib/libc.so.6\n";
constexpr std::string_view kLoader =
    "7f02-7f03 r-xp 00000000 08:01 15 /usr/lib/ld-linux-x86-64.so.2\n";
constexpr std::string_view kOurs = "7f04-7f05 r-xp 00000000 08:01 16 /opt/lib/libfathom-io.so\n";
constexpr std::string_view kStack = "7ffc-7ffd rw-p 00000000 00:00 0 [stack]\n";

Loaded loaded(std::initializer_list<std::string_view> lines) {
  std::string maps;
  for (const std::string_view line : lines) maps += line;
  return what_is_loaded(maps);
}

TEST(CoverageTest, OursIsFoundWhereverItStands) {
  EXPECT_EQ(loaded({kProgram, kOthers, kLoader, kOurs, kStack}), Loaded::kOurs);
  EXPECT_EQ(loaded({kProgram, kOurs}), Loaded::kOurs);
}

TEST(CoverageTest, OthersWithoutOursMeansThatItDoesNotCome) {
  EXPECT_EQ(loaded({kProgram, kOthers, kLoader, kStack}), Loaded::kOthers);
}

TEST(CoverageTest, ALoaderAloneMayStillLoadOurs) {
  EXPECT_EQ(loaded({kProgram, kLoader, kStack}), Loaded::kNothingYet);
  EXPECT_EQ(loaded({}), Loaded::kNothingYet);
}

// The program ended while its maps were read.
TEST(CoverageTest, TextThatWasCutSaysNothing) {
  EXPECT_EQ(loaded({kProgram, kOthers}), Loaded::kNothingYet);
  EXPECT_EQ(loaded({kProgram, kOthers, kLoader}), Loaded::kNothingYet);
}

}  // namespace
}  // namespace fathom
