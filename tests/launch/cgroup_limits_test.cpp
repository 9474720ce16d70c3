// SPDX-License-Identifier: Apache-2.0
#include "launch/cgroup_limits.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/fd.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

class CgroupLimitsTest : public testing::Test {
 protected:
  // A directory of cgroups, with one above it.
  void SetUp() override {
    std::filesystem::create_directories(inner_);
    put(outer_, "cgroup.procs", "");
    put(inner_, "cgroup.procs", "");
  }
  static void put(const std::string& folder, const char* file, const char* text) {
    ASSERT_TRUE(write_file(folder + "/" + file, text).ok());
  }
  [[nodiscard]] CgroupLimits read() const { return read_cgroup_limits(inner_, inner_); }

  TempFolder folder_;
  std::string outer_ = folder_ / "outer", inner_ = outer_ + "/inner";
};

TEST_F(CgroupLimitsTest, OfVersion2) {
  put(inner_, "cpu.max", "50000 100000\n");
  put(inner_, "memory.max", "67108864\n");
  EXPECT_EQ(read().cpus, 0.5);
  EXPECT_EQ(read().memory_bytes, 67108864);
}

TEST_F(CgroupLimitsTest, OfVersion1) {
  put(inner_, "cpu.cfs_quota_us", "150000\n");
  put(inner_, "cpu.cfs_period_us", "100000\n");
  put(inner_, "memory.limit_in_bytes", "67108864\n");
  EXPECT_EQ(read().cpus, 1.5);
  EXPECT_EQ(read().memory_bytes, 67108864);
}

TEST_F(CgroupLimitsTest, NoneIsAbsent) {
  put(inner_, "cpu.max", "max 100000\n");
  put(inner_, "memory.max", "max\n");
  EXPECT_FALSE(read().cpus);
  EXPECT_FALSE(read().memory_bytes);
  put(inner_, "cpu.max", "");
  put(inner_, "cpu.cfs_quota_us", "-1\n");
  put(inner_, "cpu.cfs_period_us", "100000\n");
  put(inner_, "memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(read().cpus);
  EXPECT_FALSE(read().memory_bytes);
  EXPECT_FALSE(read_cgroup_limits("", "/nowhere").cpus);
}

TEST_F(CgroupLimitsTest, TheLowestOfThoseAboveHolds) {
  put(inner_, "cpu.max", "200000 100000\n");
  put(inner_, "memory.max", "67108864\n");
  put(outer_, "cpu.max", "25000 100000\n");
  put(outer_, "memory.max", "134217728\n");
  EXPECT_EQ(read().cpus, 0.25);
  EXPECT_EQ(read().memory_bytes, 67108864);
}

}  // namespace
}  // namespace fathom
