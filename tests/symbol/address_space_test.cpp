// SPDX-License-Identifier: Apache-2.0
#include "symbol/address_space.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/made_binary.h"
#include "symbol/proc_maps.h"
#include "symbol/target_files.h"

namespace fathom {
namespace {

TEST(ProcMaps, Parses) {
  const auto maps = parse_proc_maps(
      "55d0c0000000-55d0c0001000 r--p 00000000 08:01 1234                       /bin/x\n"
      "55d0c0001000-55d0c0002000 r-xp 00001000 08:01 1234                       /bin/with space\n"
      "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
      "7f0000002000-7f0000003000 r-xp 00000000 00:00 0                          [vdso]\n"
      "7f0000004000-7f0000005000 r-xp 00000000 08:01 99 /tmp/a\\012b.so (deleted)\n"
      "rubbish\n7f00-7e00 r-xp 0 0:0 0 /x\n");
  ASSERT_EQ(maps.size(), 4U);
  EXPECT_EQ(maps[0].path, "/bin/with space");
  EXPECT_EQ(maps[0].offset, 0x1000U);
  EXPECT_EQ(maps[0].inode, 1234U);
  EXPECT_EQ(maps[1].path, "");
  EXPECT_EQ(maps[2].path, "[vdso]");
  EXPECT_EQ(maps[3].path, "/tmp/a\nb.so");
}

TEST(TargetFiles, LinksStayInsideTheRoot) {
  const TempFolder folder;
  ASSERT_TRUE(shell("cd " + folder.path() +
                    " && mkdir -p etc lib && echo inside >etc/hostname && "
                    "ln -s /etc/hostname lib/absolute && ln -s ../../../../../../etc/hostname "
                    "lib/relative && mkfifo lib/fifo && ln -s /proc/self/root/etc/hostname magic"));
  const Fd root = open_file(folder.path(), O_PATH | O_DIRECTORY).value();
  for (const char* path : {"/lib/absolute", "/lib/relative", "etc/hostname"}) {
    const auto file = open_in_root(root.get(), path);
    ASSERT_TRUE(file.ok()) << path;
    char text[7] = {};
    ASSERT_EQ(read(file.value().get(), text, 6), 6);
    EXPECT_EQ(std::string(text), "inside");
  }
  for (const char* path : {"/lib/fifo", "/lib", "/dev/null", "/magic", ""})
    EXPECT_FALSE(open_in_root(root.get(), path).ok()) << path;
}

TEST(TargetFiles, ALinkIsRejectedWhereNoneIsExpected) {
  const TempFolder folder;
  ASSERT_TRUE(
      shell("cd " + folder.path() + " && echo text >file && ln -s file link && ln -s . up"));
  const Fd root = open_file(folder.path(), O_PATH | O_DIRECTORY).value();
  EXPECT_TRUE(open_in_root(root.get(), "/link").ok());
  EXPECT_FALSE(open_in_root(root.get(), "/link", LastLink::kReject).ok());
  EXPECT_TRUE(open_in_root(root.get(), "/file", LastLink::kReject).ok());
  EXPECT_TRUE(open_in_root(root.get(), "/up/file", LastLink::kReject).ok());
}

TEST(TargetFiles, InnerPid) {
  EXPECT_EQ(inner_pid(getpid()).value(), getpid());
  EXPECT_FALSE(inner_pid(int64_t{1} << 40).ok());
}

TEST(AddressSpaces, FindsItsOwnCode) {
  ModuleCache modules;
  AddressSpaces spaces(modules);
  EXPECT_EQ(spaces.find(getpid(), 1).found, Place::Found::kNoProcess);
  ASSERT_TRUE(spaces.attach(getpid(), 5).ok());
  const auto address = reinterpret_cast<uint64_t>(&make_binary);
  const Place place = spaces.find(getpid(), address);
  ASSERT_EQ(place.found, Place::Found::kYes);
  EXPECT_EQ(place.module->kind(), ModuleKind::kFile);
  const auto in_file = place.module->address_of_offset(place.file_offset);
  ASSERT_TRUE(in_file.has_value());
  const auto symbol = place.module->symbols().table.find(*in_file);
  ASSERT_TRUE(symbol.has_value());
  EXPECT_NE(symbol->name.find("make_binary"), std::string::npos);
  EXPECT_EQ(spaces.find(getpid(), 1).found, Place::Found::kNoMapping);
  EXPECT_EQ(spaces.find(getpid(), address, 4).found, Place::Found::kNoMapping);
}

TEST(AddressSpaces, ForkSharesExecResetsExitForgets) {
  ModuleCache modules;
  AddressSpaces spaces(modules, {.ended = 2});
  const auto map = [&](int64_t pid, uint64_t start, const char* path, int64_t time) {
    spaces.map({.pid = pid, .start = start, .length = 4096, .path = path, .time_ns = time});
  };
  const auto where = [&](int64_t pid, uint64_t address, int64_t time = INT64_MAX) {
    const Place place = spaces.find(pid, address, time);
    return place.module == nullptr ? "-" : place.module->path();
  };
  const int64_t base = int64_t{1} << 40;  // no such processes
  map(base, 0x1000, "/gone/a", 10);
  spaces.fork(base, base + 1, 20);
  EXPECT_EQ(where(base + 1, 0x1000), "/gone/a");
  map(base + 1, 0x1000, "/gone/b", 30);
  EXPECT_EQ(where(base, 0x1000), "/gone/a");
  EXPECT_EQ(where(base + 1, 0x1000), "/gone/b");
  EXPECT_EQ(where(base + 1, 0x1000, 25), "/gone/a");
  spaces.exec(base + 1, 40);
  map(base + 1, 0x5000, "/gone/c (deleted)", 41);
  EXPECT_EQ(where(base + 1, 0x1000), "-");
  EXPECT_EQ(where(base + 1, 0x1000, 35), "/gone/b");
  EXPECT_EQ(where(base + 1, 0x5000), "/gone/c");
  spaces.exit(base + 1, 50);
  EXPECT_EQ(where(base + 1, 0x5000), "/gone/c");  // late samples
  map(base + 1, 0x7000, "/gone/d", 60);           // the number came round
  EXPECT_EQ(where(base + 1, 0x5000), "-");
  EXPECT_EQ(where(base + 1, 0x7000), "/gone/d");
  for (int64_t pid = base + 2; pid < base + 5000; ++pid) {
    spaces.fork(base, pid, 100);
    spaces.exec(pid, 101);
    map(pid, 0x1000, "/gone/a", 102);
    spaces.exit(pid, 103);
  }
  EXPECT_LE(spaces.size(), 5U);
  EXPECT_GT(modules.counts().unreadable, 0);
}

TEST(AddressSpaces, BadEventsAreRefused) {
  ModuleCache modules;
  AddressSpaces spaces(modules, {.ranges = 10});
  const int64_t pid = int64_t{1} << 40;
  spaces.map({.pid = pid, .start = UINT64_MAX - 10, .length = 4096, .path = "/x"});
  spaces.map({.pid = pid, .start = 5, .length = 0, .path = "/x"});
  for (uint64_t i = 0; i < 20; ++i)
    spaces.map({.pid = pid, .start = i * 8192, .length = 4096, .path = "[" + std::to_string(i)});
  EXPECT_EQ(spaces.refused(), 12);
}

// Opened when mapped: by map_files, so that even a deleted file is read.
TEST(ModuleCache, DeletedFile) {
  const TempFolder folder;
  ASSERT_TRUE(make_binary(folder, "-shared -fPIC"));
  const Fd file = open_file(folder / "made", O_RDONLY).value();
  struct stat facts {};
  fstat(file.get(), &facts);
  void* at = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 4096);
  ASSERT_NE(at, MAP_FAILED);
  const MapEvent event{.pid = getpid(),
                       .start = reinterpret_cast<uint64_t>(at),
                       .length = 4096,
                       .file_offset = 4096,
                       .device = facts.st_dev,
                       .inode = facts.st_ino,
                       .path = folder / "made"};
  ModuleCache modules;
  const ModulePtr before = modules.find(event);
  EXPECT_EQ(before->kind(), ModuleKind::kFile);
  unlink((folder / "made").c_str());
  ModuleCache fresh;
  const ModulePtr after = fresh.find(event);
  munmap(at, 4096);
  if (geteuid() != 0) GTEST_SKIP() << "map_files is for root";
  EXPECT_EQ(after->kind(), ModuleKind::kFile);
  EXPECT_FALSE(after->symbols().table.empty());
  EXPECT_EQ(after->build_id(), before->build_id());
}

TEST(ModuleCache, SharesAndStaysWithinItsLimits) {
  const TempFolder folder;
  ASSERT_TRUE(make_binary(folder));
  ModuleCache modules({.modules = 5, .open_files = 3});
  std::vector<ModulePtr> in_use;
  for (int i = 0; i < 12; ++i) {
    const std::string copy = folder / ("copy" + std::to_string(i));
    ASSERT_TRUE(shell("cp " + (folder / "made") + " " + copy));
    const MapEvent event{.pid = getpid(), .start = 4096, .length = 4096, .path = copy};
    const ModulePtr module = modules.find(event);
    EXPECT_EQ(module->kind(), ModuleKind::kFile);
    EXPECT_EQ(modules.find(event), module);
    if (i < 2) in_use.push_back(module);
  }
  EXPECT_LE(modules.size(), 5U);
  EXPECT_LE(modules.open_files(), 3U);
  EXPECT_EQ(modules.counts().shared_by_build_id, 11);
  // Closed, but its symbols were kept.
  EXPECT_FALSE(in_use[0]->symbols().table.empty());
  EXPECT_FALSE(in_use[0]->elf()->read(0, 16).ok());
}

TEST(ModuleCache, Vdso) {
  ModuleCache modules;
  const ModulePtr vdso = modules.find({.path = "[vdso]"});
  ASSERT_NE(vdso->elf(), nullptr);
  const SymbolTable& table = vdso->symbols().table;
  bool clock = false;
  for (uint32_t i = 0; i < table.size(); ++i) clock |= table.at(i).name == "clock_gettime";
  EXPECT_TRUE(clock);
}

}  // namespace
}  // namespace fathom
