// SPDX-License-Identifier: Apache-2.0
#include "report/io_class.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/subprocess.h"
#include "base/text.h"
#include "record/sample_recording.h"
#include "report/named_queries.h"
#include "report/query_output.h"
#include "support/folders.h"

namespace fathom {
namespace {

void expect_all(std::string_view layer, std::string_view names, IoClass expected) {
  for (const std::string_view name : split_words(names))
    EXPECT_EQ(io_class_name(io_class(layer, name)), io_class_name(expected)) << name;
}

TEST(IoClass, FormsOfALibcFunctionAreOfOneKind) {
  expect_all("c",
             "read __read __read_chk pread64 __pread64_chk preadv64v2 fread_unlocked _IO_getc "
             "__getdelim __isoc99_fscanf __recvfrom_chk fgets __fgets_unlocked_chk __uflow",
             IoClass::kRead);
  expect_all(
      "c",
      "write pwrite64 __libc_write fwrite_unlocked __fprintf_chk __vdprintf_chk putc_unlocked "
      "sendmsg pwritev64v2 __overflow",
      IoClass::kWrite);
  expect_all("c", "sendfile64 copy_file_range splice tee", IoClass::kCopy);
  expect_all("c", "open64 __open_2 __open64_2 openat64 __openat64_2 fopen64 creat64 mkstemp64",
             IoClass::kOpen);
  expect_all("c", "close fclose closedir __close_nocancel close_range", IoClass::kClose);
  expect_all("c",
             "__xstat64 __fxstatat64 lstat64 statx rename unlinkat readdir64 getdents64 fcntl64 "
             "ftruncate64 posix_fallocate64 flistxattr dup2",
             IoClass::kMetadata);
  expect_all("c", "lseek64 fseeko64 rewind", IoClass::kSeek);
  expect_all("c", "fsync fflush_unlocked msync sync_file_range", IoClass::kSync);
  expect_all("c", "poll __poll_chk epoll_pwait2 aio_suspend64 ppoll_time64", IoClass::kWait);
  expect_all("c", "mmap64 munmap madvise", IoClass::kMap);
  expect_all("c", "malloc calloc free posix_memalign", IoClass::kMemory);
  expect_all("c", "strlen readable __ 64 _2 getpid", IoClass::kOther);
}

TEST(IoClass, SystemCallsAreToldByTheSameNames) {
  expect_all("sys", "read pread64 __x64_sys_read sys_enter_preadv2 __arm64_sys_readv",
             IoClass::kRead);
  expect_all("sys", "newfstatat newfstat getdents64 ioctl faccessat2", IoClass::kMetadata);
  expect_all("sys", "pselect6 epoll_wait io_uring_enter", IoClass::kWait);
  expect_all("sys", "futex readable", IoClass::kOther);
  expect_all("sys", "clone3 execve exit_group", IoClass::kProcess);
  expect_all("sys", "wait4 epoll_wait", IoClass::kWait);
}

TEST(IoClass, OtherLayersAreToldByAWord) {
  expect_all("vfs", "vfs_read do_iter_readv", IoClass::kRead);
  expect_all("ext4", "write ext4_file_write_iter", IoClass::kWrite);
  expect_all("ext4", "writepages ext4_da_writepages", IoClass::kFlush);
  expect_all("writeback", "write_inode_pages", IoClass::kWrite);
  expect_all("vfs", "vfs_fsync_range", IoClass::kSync);
  expect_all("vfs", "vfs_getattr vfs_statx lookup_fast do_unlinkat", IoClass::kMetadata);
  expect_all("os_cache", "page_cache_async_readahead", IoClass::kMetadata);
  expect_all("mpi", "MPI_File_read_at_all", IoClass::kRead);
  expect_all("mpi", "MPI_File_open", IoClass::kOpen);
  expect_all("block", "block_rq_issue blk_mq_get_request", IoClass::kOther);
}

// Names that the library exports; those that end or copy the process or jump are no calls of ours.
std::vector<std::string> wrapped_functions() {
  const std::set<std::string> not_calls = {
      "vfork",    "fork",       "_Fork",         "_exit", "_Exit",   "longjmp",
      "_longjmp", "siglongjmp", "__longjmp_chk", "prctl", "syscall", "__asan_default_options"};
  std::vector<std::string> names;
  const auto listed =
      run_to_end({"nm", "-D", "--extern-only", "--defined-only", "--format=just-symbols",
                  build_folder() + "/lib/libfathom-io-malloc.so"});
  if (!listed.ok()) return names;
  std::istringstream lines(listed.value().output);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find('@'));
    if (!not_calls.contains(name)) names.push_back(name);
  }
  return names;
}

TEST(IoClass, EveryWrappedFunctionHasOne) {
  const auto names = wrapped_functions();
  ASSERT_GT(names.size(), 300U);
  for (const std::string& name : names) EXPECT_NE(io_class("c", name), IoClass::kOther) << name;
}

TEST(IoClass, LayersStandInTheOrderOfTheirDepth) {
  for (const auto& [upper, lower] :
       {std::pair("mpi", "c"), std::pair("c", "sys"), std::pair("sys", "vfs"),
        std::pair("vfs", "ext4"), std::pair("xfs", "os_cache"), std::pair("os_cache", "block")})
    EXPECT_LT(layer_depth(upper), layer_depth(lower)) << upper;
  EXPECT_EQ(layer_title("c"), "C library");
  EXPECT_EQ(layer_title("ext4"), "");
  EXPECT_TRUE(is_io_layer("nfs"));
  for (const char* layer : {"cuda", "cpu", "simulated"}) EXPECT_FALSE(is_io_layer(layer)) << layer;
}

// Queries and reports must not differ about what is read and written.
TEST(IoClass, SqlClassifiesAsTheReportDoes) {
  SKIP_WITHOUT_DUCKDB();
  auto session = open_query_session({});
  ASSERT_TRUE(session.ok()) << session.error().message;
  for (const std::string_view layer :
       {"c", "sys", "vfs", "ext4", "os_cache", "block", "io_uring", "writeback", "mpi"}) {
    for (const std::string_view name : split_words(
             "read __read_chk pread64 preadv64v2 fread_unlocked _IO_getc __isoc99_fscanf fgets "
             "__uflow write "
             "pwrite64 __libc_write __fprintf_chk putc_unlocked __overflow sendfile64 splice "
             "open64 __open64_2 "
             "close_range __xstat64 statx lseek64 fsync sync_file_range poll mmap64 malloc clone3 "
             "__x64_sys_read "
             "sys_enter_preadv2 readable 64 _2 __ getpid vfs_read do_iter_readv "
             "ext4_file_write_iter writepages "
             "ext4_da_writepages write_inode_pages read_pages map_pages vfs_fsync_range sequential "
             "random queue "
             "MPI_File_read_at operation_99 send_zc readv_fixed btrfs_sync_file shmem_fault")) {
      auto rows = session.value()->query(fmt::format("SELECT io_class('{}', '{}')", layer, name));
      ASSERT_TRUE(rows.ok()) << rows.error().message;
      std::string text;
      const auto keep = [&](std::string_view more) -> Status {
        text += more;
        return {};
      };
      ASSERT_TRUE(write_csv(rows.value(), keep).ok());
      EXPECT_TRUE(text.ends_with(fmt::format("\n{}\n", io_class_name(io_class(layer, name)))))
          << layer << " " << name << ": " << text;
    }
  }
}

}  // namespace
}  // namespace fathom
