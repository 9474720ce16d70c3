// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/throttle_reader.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "probe/resources/cgroup_text.h"

namespace fathom {
namespace {

constexpr int64_t kDeadlineNs = 60 * kNsPerSecond;

// A real cgroup of the CPU controller, of whatever version this host has, with one below it.
class RealCgroups : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* root : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup"}) {
      outer_ = std::string(root) + "/fathom-test-throttle-" + std::to_string(getpid());
      if (mkdir(outer_.c_str(), 0755) != 0) continue;
      v2_ = access((outer_ + "/cpu.max").c_str(), F_OK) == 0;
      if (v2_ || access((outer_ + "/cpu.cfs_quota_us").c_str(), F_OK) == 0) break;
      rmdir(outer_.c_str());
      outer_.clear();
    }
    if (outer_.empty() || access(outer_.c_str(), F_OK) != 0)
      GTEST_SKIP() << "no cgroup with a CPU limit can be made here";
    if (v2_) {
      ASSERT_TRUE(write_file(outer_ + "/cgroup.subtree_control", "+cpu").ok());
    }
    inner_ = outer_ + "/inner";
    ASSERT_EQ(mkdir(inner_.c_str(), 0755), 0);
  }
  void TearDown() override {
    stop();
    rmdir(inner_.c_str());
    rmdir(outer_.c_str());
  }
  void limit(const std::string& folder) const {
    const std::string file = folder + (v2_ ? "/cpu.max" : "/cpu.cfs_quota_us");
    ASSERT_TRUE(write_file(file, v2_ ? "10000 100000" : "10000").ok());
  }
  void spin() {
    pid_ = fork();
    while (pid_ == 0) (void)monotonic_ns();
    ASSERT_TRUE(write_file(inner_ + "/cgroup.procs", std::to_string(pid_)).ok());
  }
  void stop() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] static int64_t counted(const std::string& folder) {
    return parse_throttling(read_file(folder + "/cpu.stat").value_or(""))
        .throttled_periods.value_or(0);
  }
  static bool throttled_to(const std::string& folder, int64_t count) {
    for (const int64_t start_ns = monotonic_ns(); monotonic_ns() - start_ns < kDeadlineNs;)
      if (usleep(20'000) == 0 && counted(folder) >= count) return true;
    return false;
  }

  std::string outer_, inner_;
  bool v2_ = false;
  pid_t pid_ = 0;
};

TEST_F(RealCgroups, CountsOfALimitAboveAreSeenFromBelowAndBeginWithBegin) {
  limit(outer_);
  spin();
  ASSERT_TRUE(throttled_to(outer_, 5));
  ThrottleReader reader(inner_);
  const int64_t before = counted(outer_);
  reader.begin();
  const int64_t begun = counted(outer_);
  ASSERT_TRUE(throttled_to(outer_, begun + 5));
  stop();
  const Throttling seen = reader.read();
  EXPECT_LE(*seen.throttled_periods, counted(outer_) - before);
  EXPECT_GE(*seen.throttled_periods, 5);
  EXPECT_LE(*seen.throttled_periods, *seen.periods);
  EXPECT_GT(*seen.throttled_ns, 0);
}

TEST_F(RealCgroups, CountsOfALimitBelowAreSeenFromAboveAndStayWhenItIsRemoved) {
  limit(inner_);
  spin();
  ThrottleReader reader(outer_);
  reader.begin();
  ASSERT_TRUE(throttled_to(inner_, counted(inner_) + 5));
  stop();
  const Throttling seen = reader.read();
  EXPECT_GE(*seen.throttled_periods, 5);
  ASSERT_EQ(rmdir(inner_.c_str()), 0);
  EXPECT_EQ(reader.read().throttled_periods, seen.throttled_periods);
}

TEST_F(RealCgroups, CountsOfALimitBelowAreLeftToItsOwnerWhereBelowIsExcluded) {
  limit(inner_);
  spin();
  ThrottleReader reader(outer_, ThrottleReader::Below::kExcluded);
  reader.begin();
  ASSERT_TRUE(throttled_to(inner_, counted(inner_) + 5));
  EXPECT_EQ(reader.read().throttled_periods.value_or(0), 0);
}

TEST(Throttling, OfBothVersionsIsRead) {
  const Throttling v1 =
      parse_throttling("nr_periods 22\nnr_throttled 20\nthrottled_time 976583368\n");
  EXPECT_EQ(v1.periods, 22);
  EXPECT_EQ(v1.throttled_periods, 20);
  EXPECT_EQ(v1.throttled_ns, 976583368);
  const Throttling v2 =
      parse_throttling("usage_usec 5\nnr_periods 3\nnr_throttled 2\nthrottled_usec 7\n");
  EXPECT_EQ(v2.periods, 3);
  EXPECT_EQ(v2.throttled_ns, 7000);
  EXPECT_FALSE(parse_throttling("usage_usec 5\n").periods);
}

TEST(ThrottleReader, WithoutACpuControllerThereIsNothing) {
  ThrottleReader reader("");
  EXPECT_FALSE(reader.read().periods);
}

}  // namespace
}  // namespace fathom
