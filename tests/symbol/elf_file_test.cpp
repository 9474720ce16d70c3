// SPDX-License-Identifier: Apache-2.0
#include "symbol/elf_file.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "symbol/debug_file.h"
#include "symbol/elf_symbols.h"
#include "symbol/made_binary.h"

namespace fathom {
namespace {

// Everything a target's file is asked for.
void use_all(std::string bytes) {
  const auto elf = ElfFile::from_memory(std::move(bytes));
  if (!elf.ok()) return;
  const ElfSymbols symbols = load_elf_symbols(elf.value());
  (void)symbols.table.find(0x1149);
  (void)elf.value().address_of_offset(0x1149);
  (void)find_debug_file(elf.value(), "/usr/bin/x", {});
}

std::string small_binary() {
  const TempFolder folder;
  EXPECT_TRUE(write_file(folder / "a.c",
                         "int f(int x){return x*2;} int puts(const char*); int "
                         "g(void){return puts(\"x\")+f(1);}")
                  .ok());
  EXPECT_TRUE(shell("cc -shared -fPIC -O1 -nostdlib -Wl,--build-id=sha1 -o " + (folder / "a.so") +
                    " " + (folder / "a.c")));
  return read_file(folder / "a.so").value_or("");
}

TEST(ElfFile, OfThisTest) {
  const auto elf = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(elf.ok());
  EXPECT_NE(elf.value().section(".text"), nullptr);
  EXPECT_EQ(elf.value().section(".nonsense"), nullptr);
  const ElfSection& text = *elf.value().section(".text");
  EXPECT_EQ(elf.value().address_of_offset(text.offset + 5), text.address + 5);
  EXPECT_FALSE(elf.value().address_of_offset(uint64_t{1} << 60).has_value());
}

TEST(ElfFile, BuildIdAsReadelfSays) {
  const TempFolder folder;
  ASSERT_TRUE(make_binary(folder));
  const auto elf = ElfFile::open(folder / "made");
  ASSERT_TRUE(elf.ok());
  EXPECT_EQ(elf.value().build_id_hex().size(), 40U);
  EXPECT_TRUE(shell("readelf -n " + (folder / "made") +
                    " | grep -q 'Build ID: " + elf.value().build_id_hex() + "'"));
}

TEST(ElfFile, OthersAreRefusedInWords) {
  const TempFolder folder;
  EXPECT_EQ(ElfFile::from_memory("").error().code, Code::kCorrupt);
  EXPECT_EQ(ElfFile::from_memory("#!/bin/sh\necho").error().code, Code::kInvalid);
  std::string bytes = small_binary();
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(ElfFile::from_memory(bytes).error().code, Code::kUnsupported);
  bytes[EI_CLASS] = ELFCLASS64;
  bytes[EI_DATA] = ELFDATA2MSB;
  EXPECT_EQ(ElfFile::from_memory(bytes).error().code, Code::kUnsupported);
  EXPECT_EQ(ElfFile::open(folder.path()).error().code, Code::kInvalid);
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(ElfFile::open(folder / "fifo").error().code, Code::kInvalid);
}

TEST(ElfFile, CutUnderUsIsAnErrorNotASignal) {
  const TempFolder folder;
  ASSERT_TRUE(make_binary(folder));
  const auto elf = ElfFile::open(folder / "made");
  ASSERT_TRUE(elf.ok());
  ASSERT_EQ(truncate((folder / "made").c_str(), 1000), 0);
  const ElfSymbols symbols = load_elf_symbols(elf.value());
  EXPECT_TRUE(symbols.table.empty());
  EXPECT_GT(symbols.damaged, 0);
}

TEST(ElfFile, EveryTruncation) {
  const std::string whole = small_binary();
  ASSERT_GT(whole.size(), 4000U);
  for (size_t length = 0; length < whole.size(); length += length < 512 ? 1 : 7)
    use_all(whole.substr(0, length));
}

TEST(ElfFile, EveryBitOfTheHeaders) {
  std::string bytes = small_binary();
  const auto flip_range = [&](size_t from, size_t to) {
    for (size_t at = from; at < std::min(to, bytes.size()); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
        use_all(bytes);
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      }
    }
  };
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  flip_range(0, sizeof header + header.e_phnum * sizeof(Elf64_Phdr));
  flip_range(header.e_shoff, bytes.size());
}

TEST(ElfFile, RandomDamage) {
  const std::string whole = small_binary();
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 8; ++i) {
      const size_t at = random() % (bytes.size() - 8);
      const uint64_t value = random() % 4 == 0 ? UINT64_MAX - random() % 64 : random();
      std::memcpy(bytes.data() + at, &value, 1 + random() % 8);
    }
    use_all(std::move(bytes));
  }
}

TEST(ElfFile, HugeCounts) {
  const std::string whole = small_binary();
  for (const uint16_t count : {uint16_t{0}, uint16_t{1000}, uint16_t{0xffff}}) {
    std::string bytes = whole;
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.e_shnum = count;
    header.e_phnum = count;
    std::memcpy(bytes.data(), &header, sizeof header);
    for (const uint64_t size : {uint64_t{0}, uint64_t{1} << 40, UINT64_MAX}) {
      std::memcpy(bytes.data() + header.e_shoff + offsetof(Elf64_Shdr, sh_size), &size, 8);
      use_all(bytes);
    }
  }
}

TEST(ElfFile, SparseGiantIsBounded) {
  const TempFolder folder;
  std::string bytes = small_binary();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (int i = 0; i < header.e_shnum; ++i) {
    const uint64_t size = uint64_t{1} << 41;
    std::memcpy(bytes.data() + header.e_shoff + static_cast<size_t>(i) * sizeof(Elf64_Shdr) +
                    offsetof(Elf64_Shdr, sh_size),
                &size, 8);
  }
  ASSERT_TRUE(write_file(folder / "giant", bytes).ok());
  if (truncate((folder / "giant").c_str(), off_t{1} << 42) != 0) GTEST_SKIP() << "no sparse files";
  const auto elf = ElfFile::open(folder / "giant");
  if (elf.ok()) (void)load_elf_symbols(elf.value());
}

}  // namespace
}  // namespace fathom
