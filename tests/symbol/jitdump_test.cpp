// SPDX-License-Identifier: Apache-2.0
#include "symbol/jitdump.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <random>

#include "support/temp_folder.h"

namespace fathom {
namespace {

template <class Number>
std::string raw(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string header(uint64_t flags = 0) {
  return raw(uint32_t{0x4A695444}) + raw(uint32_t{1}) + raw(uint32_t{40}) + raw(uint32_t{62}) +
         raw(uint32_t{0}) + raw(uint32_t{77}) + raw(uint64_t{1}) + raw(flags);
}

std::string record(uint32_t id, uint64_t time, const std::string& body) {
  return raw(id) + raw(static_cast<uint32_t>(16 + body.size())) + raw(time) + body;
}

std::string load(uint64_t time, uint64_t address, uint64_t size, const std::string& name) {
  return record(0, time,
                raw(uint32_t{77}) + raw(uint32_t{77}) + raw(address) + raw(address) + raw(size) +
                    raw(uint64_t{1}) + name + '\0' + std::string(size, 'c'));
}

std::string move(uint64_t time, uint64_t from, uint64_t to, uint64_t size) {
  return record(1, time,
                raw(uint32_t{77}) + raw(uint32_t{77}) + raw(to) + raw(from) + raw(to) + raw(size) +
                    raw(uint64_t{1}));
}

std::string name_at(const Jitdump& dump, uint64_t address, int64_t time = INT64_MAX) {
  return std::string(dump.find(address, time).value_or("-"));
}

TEST(Jitdump, NamesByTime) {
  Jitdump dump;
  dump.feed(header() + load(10, 0x1000, 0x100, "first") + load(20, 0x1000, 0x80, "second") +
            move(30, 0x1000, 0x9000, 0x80) + record(2, 31, "debug info") + record(3, 40, "") +
            load(50, 0x5000, 16, "after the end"));
  EXPECT_EQ(name_at(dump, 0x1010, 5), "-");
  EXPECT_EQ(name_at(dump, 0x1010, 15), "first");
  EXPECT_EQ(name_at(dump, 0x1010, 25), "second");
  EXPECT_EQ(name_at(dump, 0x1090, 25), "first");
  EXPECT_EQ(name_at(dump, 0x1010, 35), "-");
  EXPECT_EQ(name_at(dump, 0x9010, 35), "second");
  EXPECT_EQ(name_at(dump, 0x9010, 25), "-");
  EXPECT_EQ(name_at(dump, 0x5000), "-");
  EXPECT_TRUE(dump.counts().closed);
  EXPECT_EQ(dump.counts().loads, 2);
  EXPECT_EQ(dump.counts().moves, 1);
}

TEST(Jitdump, ArchTimesCountAsNow) {
  Jitdump dump;
  dump.feed(header(1) + load(999'999, 0x1000, 0x100, "f"));
  EXPECT_EQ(name_at(dump, 0x1010, 5), "f");
}

TEST(Jitdump, FileThatGrowsWithLargeCode) {
  const TempFolder folder;
  const std::string path = folder / "jit-77.dump";
  const std::string large = load(10, 0x100000, 3 << 20, "large");
  ASSERT_TRUE(write_file(path, header() + large + load(11, 0x1000, 64, "small") +
                                   load(12, 0x2000, 64, "cut").substr(0, 50))
                  .ok());
  auto dump = Jitdump::from_file(open_file(path, O_RDONLY).value());
  ASSERT_TRUE(dump.ok());
  EXPECT_EQ(name_at(dump.value(), 0x100010), "large");
  EXPECT_EQ(name_at(dump.value(), 0x1000), "small");
  EXPECT_EQ(name_at(dump.value(), 0x2000), "-");
  const Fd more = open_file(path, O_WRONLY | O_APPEND).value();
  ASSERT_TRUE(write_all(more.get(), load(12, 0x2000, 64, "cut").substr(50)).ok());
  ASSERT_TRUE(dump.value().refresh().ok());
  EXPECT_EQ(name_at(dump.value(), 0x2000), "cut");
}

TEST(Jitdump, CutAndDamaged) {
  const std::string whole = header() + load(10, 0x1000, 16, "a") + move(11, 0x1000, 0x2000, 16) +
                            load(12, 0x3000, 16, std::string(5000, 'n')) + record(3, 13, "");
  for (size_t length = 0; length < whole.size(); ++length) {
    Jitdump dump;
    dump.feed(whole.substr(0, length));
  }
  std::mt19937 random(3);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 4; ++i)
      bytes[random() % 300] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    Jitdump dump;
    dump.feed(bytes);
    (void)dump.find(0x1000, 11);
  }
  Jitdump wrong;
  wrong.feed(std::string(100, 'x'));
  EXPECT_TRUE(wrong.counts().damaged);
}

}  // namespace
}  // namespace fathom
