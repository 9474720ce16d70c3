// SPDX-License-Identifier: Apache-2.0
#include "base/file_mode.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "support/temp_folder.h"

namespace fathom {
namespace {

TEST(FileMode, OnlyTheOwnerMayWrite) {
  EXPECT_EQ(parse_file_mode("0600").value(), 0600U);
  EXPECT_EQ(parse_file_mode("640").value(), 0640U);
  EXPECT_EQ(parse_file_mode("0644").value(), 0644U);
  for (const char* text : {"", "0", "0400", "0660", "0666", "0755", "04600", "00644", "u=rw", "8"})
    EXPECT_FALSE(parse_file_mode(text).ok()) << text;
}

TEST(FileMode, WhoMayReadFilesMayEnterTheirDirectory) {
  EXPECT_EQ(directory_mode(0600), 0700U);
  EXPECT_EQ(directory_mode(0640), 0750U);
  EXPECT_EQ(directory_mode(0644), 0755U);
}

TEST(FileMode, FilesAreAsReadableAsTheirDirectory) {
  const TempFolder folder;
  EXPECT_EQ(file_mode_in(folder.path()), 0600U);
  chmod(folder.path().c_str(), 0755);
  EXPECT_EQ(file_mode_in(folder.path()), 0644U);
  EXPECT_EQ(file_mode_in(folder / "none"), 0600U);
}

TEST(FileMode, DirectoriesThatOthersMayChangeAreRejected) {
  const TempFolder folder;
  EXPECT_TRUE(open_own_directory(folder.path()).ok());
  chmod(folder.path().c_str(), 0770);
  EXPECT_FALSE(open_own_directory(folder.path()).ok());
  chmod(folder.path().c_str(), 0707);
  EXPECT_FALSE(open_own_directory(folder.path()).ok());
  chmod(folder.path().c_str(), 0755);
  ASSERT_EQ(symlink(folder.path().c_str(), (folder / "link").c_str()), 0);
  EXPECT_EQ(open_own_directory(folder / "link").error().code, Code::kPermission);
  EXPECT_EQ(open_own_directory(folder / "none").error().code, Code::kNotFound);
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(folder.path().c_str(), 65534, 65534), 0);
  EXPECT_EQ(open_own_directory(folder.path()).error().code, Code::kPermission);
}

TEST(FileMode, LinksAndFifosAreNotOpened) {
  const TempFolder folder;
  const Fd directory = open_own_directory(folder.path()).value();
  std::ofstream(folder / "file") << "x";
  ASSERT_EQ(symlink((folder / "file").c_str(), (folder / "link").c_str()), 0);
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_TRUE(open_own_file(directory, "file", O_RDONLY).ok());
  for (const char* name : {"link", "fifo"}) {
    EXPECT_EQ(open_own_file(directory, name, O_RDONLY).error().code, Code::kPermission) << name;
    EXPECT_FALSE(open_own_file(directory, name, O_WRONLY | O_CREAT | O_EXCL).ok()) << name;
  }
  EXPECT_EQ(open_own_file(directory, "none", O_RDONLY).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace fathom
