// SPDX-License-Identifier: Apache-2.0
#include "hub/data_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/file_mode.h"
#include "store/store.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

unsigned mode_of(const std::string& path) {
  struct stat state {};
  return lstat(path.c_str(), &state) == 0 ? state.st_mode & 07777 : 0;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_modes(const std::string& data, unsigned file_mode) {
  for (const char* name : {"VERSION", "hub.sqlite", "hub.sqlite-wal", "hub.sqlite-shm"})
    EXPECT_EQ(mode_of(data + "/" + name), file_mode) << name;
}

TEST(DataDirectory, IsPrivateUnlessRequestedOtherwise) {
  const TempFolder folder;
  const std::string data = folder / "a/b";
  {
    const auto directory = DataDirectory::open(data, kPrivateFileMode).value();
    const auto store = open_store("sqlite:" + directory.database()).value();
    ASSERT_TRUE(store->create_job(2001, "", "{}").ok());
    EXPECT_EQ(mode_of(data), 0700U);
    expect_modes(data, 0600);
    EXPECT_EQ(DataDirectory::open(data, kPrivateFileMode).error().code, Code::kExists);
  }
  const std::string shared = folder / "shared";
  const auto directory = DataDirectory::open(shared, 0644).value();
  const auto store = open_store("sqlite:" + directory.database()).value();
  EXPECT_EQ(mode_of(shared), 0755U);
  expect_modes(shared, 0644);
}

TEST(DataDirectory, DataOfAnEarlierVersionBecomesPrivate) {
  const TempFolder folder;
  const std::string data = folder / "data";
  ASSERT_EQ(mkdir(data.c_str(), 0755), 0);
  std::ofstream(data + "/VERSION") << "1\n";
  for (const char* name : {"/hub.sqlite", "/hub.sqlite-wal"}) {
    std::ofstream(data + name).close();
    chmod((data + name).c_str(), 0644);
  }
  const auto directory = DataDirectory::open(data, kPrivateFileMode);
  ASSERT_TRUE(directory.ok()) << directory.error().message;
  EXPECT_EQ(mode_of(data + "/hub.sqlite"), 0600U);
  EXPECT_EQ(mode_of(data + "/hub.sqlite-wal"), 0600U);
}

TEST(DataDirectory, NoFileIsWrittenThroughALink) {
  for (const char* name : {"VERSION.new", "VERSION", "LOCK", "hub.sqlite", "hub.sqlite-wal"}) {
    const TempFolder folder;
    const std::string data = folder / "data", secret = folder / "secret";
    ASSERT_EQ(mkdir(data.c_str(), 0700), 0);
    std::ofstream(secret) << "1\n";
    ASSERT_EQ(symlink(secret.c_str(), (data + "/" + name).c_str()), 0);
    const auto directory = DataDirectory::open(data, kPrivateFileMode);
    // A draft that is left over is removed, whatever it is.
    EXPECT_EQ(directory.ok(), name == std::string("VERSION.new")) << name;
    EXPECT_EQ(content_of(secret), "1\n") << name;
  }
}

TEST(DataDirectory, DirectoriesOfOtherUsersAreRejected) {
  const TempFolder folder;
  chmod(folder.path().c_str(), 0777);
  EXPECT_EQ(DataDirectory::open(folder.path(), kPrivateFileMode).error().code, Code::kPermission);
  chmod(folder.path().c_str(), 0755);
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(folder.path().c_str(), 65534, 65534), 0);
  EXPECT_EQ(DataDirectory::open(folder.path(), kPrivateFileMode).error().code, Code::kPermission);
}

}  // namespace
}  // namespace fathom
