// SPDX-License-Identifier: Apache-2.0
#include "symbol/perf_map.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temp_folder.h"

namespace fathom {
namespace {

std::string name_at(const PerfMap& map, uint64_t address) {
  return std::string(map.find(address).value_or("-"));
}

TEST(PerfMap, NamesMayHoldAnything) {
  PerfMap map;
  map.feed("1000 10 Lcom/example/Main;::run (a b)\n2000 20 <script>\"'&;\n3000 8 \xff\xfe\x01\r\n");
  EXPECT_EQ(name_at(map, 0x1000), "Lcom/example/Main;::run (a b)");
  EXPECT_EQ(name_at(map, 0x100f), "Lcom/example/Main;::run (a b)");
  EXPECT_EQ(name_at(map, 0x1010), "-");
  EXPECT_EQ(name_at(map, 0x2010), "<script>\"'&;");
  EXPECT_EQ(name_at(map, 0x3001), "\xff\xfe\x01");
  EXPECT_EQ(map.counts().bad_lines, 0);
}

TEST(PerfMap, LastWins) {
  PerfMap map;
  map.feed("1000 100 old\n1040 20 inside\n2000 10 x\n1ff0 30 over\n0x3000 0x10 prefixed\n");
  EXPECT_EQ(name_at(map, 0x1000), "old");
  EXPECT_EQ(name_at(map, 0x1050), "inside");
  EXPECT_EQ(name_at(map, 0x1060), "old");
  EXPECT_EQ(name_at(map, 0x2005), "over");
  EXPECT_EQ(name_at(map, 0x3005), "prefixed");
}

TEST(PerfMap, BadLinesAreCounted) {
  PerfMap map;
  map.feed(
      "\n1000\n1000 10\n1000 10 \nxyz 10 a\n1000 0 empty\nffffffffffffffff 10 wraps\n"
      "11112222333344445 10 too many digits\n-5 10 a\n1000,10,a\n2000 10 good\n");
  EXPECT_EQ(map.counts().entries, 1);
  EXPECT_EQ(map.counts().bad_lines, 9);
  EXPECT_EQ(name_at(map, 0x2000), "good");
}

TEST(PerfMap, PiecesOfAnySize) {
  const std::string text = "1000 10 first one\n2000 10 second\n3000 10 third\n";
  for (size_t size = 1; size < text.size(); ++size) {
    PerfMap map;
    for (size_t at = 0; at < text.size(); at += size) map.feed(text.substr(at, size));
    EXPECT_EQ(map.counts().entries, 3);
    EXPECT_EQ(name_at(map, 0x1000), "first one");
  }
}

TEST(PerfMap, LongNamesAreCutAndEndlessLinesSkipped) {
  PerfMap map;
  map.feed("1000 10 " + std::string(65536, 'n') + "\n");
  EXPECT_EQ(name_at(map, 0x1000).size(), PerfMap::kMaxNameLength);
  for (int i = 0; i < 100; ++i) map.feed(std::string(10'000, 'x'));
  map.feed("\n2000 10 after\n");
  EXPECT_EQ(name_at(map, 0x2000), "after");
  EXPECT_EQ(map.counts().bad_lines, 1);
}

TEST(PerfMap, GrowsAndStartsAgain) {
  const TempFolder folder;
  const std::string path = folder / "perf-1.map";
  ASSERT_TRUE(write_file(path, "1000 10 one\n2000 10 tw").ok());
  PerfMap map = PerfMap::from_file(open_file(path, O_RDONLY).value());
  ASSERT_TRUE(map.refresh().ok());
  EXPECT_EQ(name_at(map, 0x1000), "one");
  EXPECT_EQ(name_at(map, 0x2000), "-");  // its line is not complete
  const Fd more = open_file(path, O_WRONLY | O_APPEND).value();
  ASSERT_TRUE(write_all(more.get(), "o\n").ok());
  ASSERT_TRUE(map.refresh().ok());
  EXPECT_EQ(name_at(map, 0x2000), "two");
  ASSERT_EQ(ftruncate(more.get(), 0), 0);
  ASSERT_TRUE(write_all(more.get(), "3000 10 new\n").ok());
  ASSERT_TRUE(map.refresh().ok());
  EXPECT_EQ(name_at(map, 0x1000), "-");
  EXPECT_EQ(name_at(map, 0x3000), "new");
}

TEST(PerfMap, OfThisProcess) {
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  EXPECT_EQ(PerfMap::open(getpid()).error().code, Code::kNotFound);
  ASSERT_TRUE(write_file(path, "7000 10 mine\n").ok());
  const auto map = PerfMap::open(getpid());
  unlink(path.c_str());
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(name_at(map.value(), 0x7001), "mine");
  // A link is followed inside the root, but a folder or a device is not a map.
  ASSERT_EQ(symlink("/dev/zero", path.c_str()), 0);
  EXPECT_FALSE(PerfMap::open(getpid()).ok());
  unlink(path.c_str());
}

}  // namespace
}  // namespace fathom
