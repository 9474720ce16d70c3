// SPDX-License-Identifier: Apache-2.0
#include "symbol/kernel_names.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/fd.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

constexpr const char* kList =
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 T do_it\n"
    "ffffffff81000200 T do_more\n"
    "ffffffff81000300 T _etext\n"
    "ffffffffc0000000 t ext4_sync_file\t[ext4]\n"
    "ffffffffc0000100 t ext4_write\t[ext4]\n"
    "ffffffffc0001000 t bpf_prog_one\t[bpf]\n";
constexpr const char* kBoot = "01234567-89ab-cdef-0123-456789abcdef\n";
constexpr const char* kOtherBoot = "11234567-89ab-cdef-0123-456789abcdef\n";
constexpr const char* kModules = "ext4 946176 1 jbd2,mbcache, Live 0xffffffffc0000000\n";

class KernelNamesTest : public testing::Test {
 protected:
  void SetUp() override { tell(kList, kModules, kBoot); }
  void tell(const std::string& list, const std::string& modules, const std::string& boot) {
    ASSERT_TRUE(write_file(places_.symbols, list).ok());
    ASSERT_TRUE(write_file(places_.modules, modules).ok());
    ASSERT_TRUE(write_file(places_.boot_id, boot).ok());
  }
  [[nodiscard]] KernelNames names() const { return {cache_, places_}; }
  // "do_it", with "!" where the kernel had to be asked; "-" for none.
  [[nodiscard]] std::string ask(uint64_t address) const {
    KernelNames kernel = names();
    const auto found = kernel.find(address);
    return (found ? std::string(found->name) : "-") + (kernel.from_file() ? "" : "!");
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> paths;
    if (!std::filesystem::exists(cache_)) return paths;
    for (const auto& entry : std::filesystem::directory_iterator(cache_))
      paths.push_back(entry.path());
    return paths;
  }

  TempFolder folder_;
  std::string cache_ = folder_ / "not/yet/there";
  KernelNames::Places places_{folder_ / "kallsyms", folder_ / "modules", folder_ / "boot_id"};
};

TEST_F(KernelNamesTest, KeepsTheListForThisUserAlone) {
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
  ASSERT_EQ(files().size(), 1U);
  struct stat facts {};
  ASSERT_EQ(stat(files()[0].c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  ASSERT_EQ(stat(cache_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700U);
  ASSERT_TRUE(write_file(places_.symbols, "").ok());  // not looked at again
  EXPECT_EQ(ask(0xffffffff81000110), "do_it");
  EXPECT_EQ(ask(0xffffffffc0000080), "ext4_sync_file");
}

TEST_F(KernelNamesTest, UsersOfAModuleDoNotMatter) {
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
  tell(kList, "ext4 946176 7 jbd2, Live 0xffffffffc0000000\n", kBoot);
  EXPECT_EQ(ask(0xffffffff81000110), "do_it");
}

TEST_F(KernelNamesTest, AsksTheKernelForWhatComesAndGoes) {
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
  EXPECT_EQ(ask(0xffffffffc0001010), "bpf_prog_one!");
  std::string list = kList;
  list.replace(list.find("bpf_prog_one"), 12, "bpf_prog_two");
  tell(list, kModules, kBoot);
  EXPECT_EQ(ask(0xffffffffc0001010), "bpf_prog_two!");
  KernelNames kernel = names();
  EXPECT_EQ(kernel.find(0xffffffffc0000010)->name, "ext4_sync_file");
  EXPECT_TRUE(kernel.from_file());
  EXPECT_FALSE(kernel.find(0xffffffff00000000));
  EXPECT_FALSE(kernel.from_file());
}

TEST_F(KernelNamesTest, OfAnotherBootOrWithOtherModulesIsReadAnew) {
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
  const std::string first = files().at(0);
  tell(kList, kModules, kOtherBoot);
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
  ASSERT_EQ(files().size(), 1U);  // the older one is gone
  EXPECT_NE(files()[0], first);
  // One that only has the name of this boot.
  std::filesystem::rename(files()[0], first);
  tell(kList, kModules, kBoot);
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
  tell(kList, "ext4 946176 1 jbd2, Live 0xffffffffc0800000\n", kBoot);
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
  EXPECT_EQ(files().size(), 1U);
  unlink(places_.modules.c_str());  // a kernel without modules
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
  EXPECT_EQ(ask(0xffffffff81000110), "do_it");
}

TEST_F(KernelNamesTest, DamagedOrOldFilesAreReadAnew) {
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
  const std::string file = files().at(0);
  const std::string good = read_file(file).value();
  for (size_t at = 0; at < good.size(); ++at) {  // 8 is the version
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    ASSERT_TRUE(write_file(file, bad).ok());
    ASSERT_EQ(ask(0xffffffff81000110), "do_it!") << at;
    ASSERT_EQ(ask(0xffffffff81000110), "do_it") << at;  // written anew
  }
  for (size_t size = 0; size < good.size(); size += 7) {
    ASSERT_TRUE(write_file(file, good.substr(0, size)).ok());
    ASSERT_EQ(ask(0xffffffff81000110), "do_it!") << size;
  }
}

TEST_F(KernelNamesTest, FilesThatOthersMayWriteAreNotRead) {
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
  ASSERT_EQ(chmod(files().at(0).c_str(), 0622), 0);
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
  const std::string file = files().at(0);
  std::filesystem::rename(file, folder_ / "elsewhere");
  std::filesystem::create_symlink(folder_ / "elsewhere", file);
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
}

TEST_F(KernelNamesTest, HiddenListsAreNotKept) {
  std::string zeros;
  for (int i = 0; i < 10'000; ++i) zeros += "0000000000000000 T name\n";
  tell(zeros, kModules, kBoot);
  KernelNames kernel = names();
  EXPECT_FALSE(kernel.find(0xffffffff81000110));
  ASSERT_TRUE(kernel.error());
  EXPECT_EQ(kernel.error()->code, Code::kPermission);
  EXPECT_TRUE(files().empty());
  // One zero at the start is not all.
  tell("0000000000000000 A percpu\n" + std::string(kList) + zeros, kModules, kBoot);
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
}

TEST_F(KernelNamesTest, WithoutAFolderNothingIsKept) {
  KernelNames kernel("", places_);
  EXPECT_TRUE(kernel.find(0xffffffff81000110));
  EXPECT_FALSE(kernel.from_file());
  cache_ = "/proc/nowhere";
  EXPECT_EQ(ask(0xffffffff81000110), "do_it!");
}

TEST(KernelNames, OfThisMachine) {
  const TempFolder folder;
  const auto whole = KernelSymbols::load();
  if (!whole.ok()) GTEST_SKIP() << whole.error().message;
  KernelNames first(folder.path()), second(folder.path());
  EXPECT_TRUE(first.find(whole.value().first()));
  EXPECT_TRUE(second.find(whole.value().first()));
  EXPECT_TRUE(second.from_file());
  // The same answers at every 4 kB.
  for (uint64_t at = 0xffffffff81000000; at < 0xffffffff81100000; at += 4096) {
    const auto wanted = whole.value().find(at);
    for (KernelNames* names : {&first, &second}) {
      const auto found = names->find(at);
      ASSERT_EQ(found.has_value(), wanted.has_value());
      if (found) {
        ASSERT_EQ(found->name, wanted->name);
      }
    }
  }
}

}  // namespace
}  // namespace fathom
