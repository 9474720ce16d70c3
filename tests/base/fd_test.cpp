// SPDX-License-Identifier: Apache-2.0
#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace fathom {
namespace {

bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

class FdTest : public testing::Test {
 protected:
  FdTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fathom_fd.XXXXXX").string();
    folder_ = mkdtemp(pattern.data()) == nullptr ? "" : pattern;
  }
  ~FdTest() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(FdTest, ClosesWhatItOwns) {
  auto ends = make_pipe();
  ASSERT_TRUE(ends.ok());
  const int read_end = ends.value().first.get();
  const int write_end = ends.value().second.get();
  EXPECT_TRUE((fcntl(read_end, F_GETFD) & FD_CLOEXEC) != 0);
  Fd moved = std::move(ends.value().first);
  EXPECT_FALSE(ends.value().first.valid());
  EXPECT_TRUE(is_open(read_end));
  moved = std::move(ends.value().second);
  EXPECT_FALSE(is_open(read_end));
  const int released = moved.release();
  EXPECT_EQ(released, write_end);
  moved.reset();
  EXPECT_TRUE(is_open(released));
  close(released);
}

TEST_F(FdTest, WholeFiles) {
  const std::string path = folder_ + "/file";
  const std::string bytes = std::string("a\0b", 3) + std::string(100'000, 'x');
  ASSERT_TRUE(write_file(path, bytes).ok());
  EXPECT_EQ(read_file(path).value(), bytes);
  EXPECT_EQ(read_file(path, bytes.size()).value(), bytes);
  const auto limited = read_file(path, bytes.size() - 1);
  ASSERT_FALSE(limited.ok());
  EXPECT_EQ(limited.error().code, Code::kInvalid);
  ASSERT_TRUE(write_file(path, "").ok());
  EXPECT_EQ(read_file(path).value(), "");
  EXPECT_EQ(read_file(folder_ + "/absent").error().code, Code::kNotFound);
  EXPECT_FALSE(read_file(folder_).ok());
  EXPECT_FALSE(write_file(folder_ + "/absent/file", "x").ok());
  EXPECT_TRUE(sync_folder(folder_).ok());
  EXPECT_FALSE(sync_folder(path).ok());
}

// A file of /proc says 0 for its size.
TEST_F(FdTest, FilesWithoutASize) {
  const auto status = read_file("/proc/self/status");
  ASSERT_TRUE(status.ok());
  EXPECT_NE(status.value().find("VmRSS"), std::string::npos);
}

// A pipe takes 64 KiB at a time: the rest must follow.
TEST_F(FdTest, WriteAllWritesAll) {
  auto ends = make_pipe();
  const std::string bytes(1 << 20, 'p');
  size_t received = 0;
  std::thread reader([&] {
    char buffer[5000];
    for (ssize_t got = 0; (got = read(ends.value().first.get(), buffer, sizeof buffer)) > 0;) {
      received += static_cast<size_t>(got);
    }
  });
  EXPECT_TRUE(write_all(ends.value().second.get(), bytes).ok());
  ends.value().second.reset();
  reader.join();
  EXPECT_EQ(received, bytes.size());
  EXPECT_FALSE(write_all(-1, "x").ok());
}

}  // namespace
}  // namespace fathom
