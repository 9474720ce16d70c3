// SPDX-License-Identifier: Apache-2.0
#include "launch/cgroup.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/fd.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

TEST(CgroupPlaces, UnifiedHost) {
  const CgroupPlaces places = CgroupPlaces::parse(
      "22 27 0:21 / /proc rw,nosuid - proc proc rw\n"
      "31 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev - cgroup2 cgroup2 rw,nsdelegate\n",
      "0::/user.slice/user-1000.slice/session-3.scope\n");
  EXPECT_EQ(places.unified, "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope");
  EXPECT_EQ(places.memory, "");
  EXPECT_EQ(places.cpuacct, "");
}

// Where engines put containers: Docker with systemd on version 2 and on version 1, Podman.
TEST(CgroupPlaces, ContainersThatSystemdMadeRoomFor) {
  const char* unified =
      "35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 "
      "rw,nsdelegate,memory_recursiveprot\n";
  EXPECT_EQ(CgroupPlaces::parse(unified, "0::/system.slice/docker-3f2a.scope\n").unified,
            "/sys/fs/cgroup/system.slice/docker-3f2a.scope");
  EXPECT_EQ(CgroupPlaces::parse(unified, "0::/machine.slice/libpod-9c1d.scope/container\n").unified,
            "/sys/fs/cgroup/machine.slice/libpod-9c1d.scope/container");
  EXPECT_EQ(CgroupPlaces::parse(unified,
                                "0::/user.slice/user-1000.slice/user@1000.service/"
                                "user.slice/docker-77.scope\n")
                .unified,
            "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/user.slice/"
            "docker-77.scope");
  const CgroupPlaces old = CgroupPlaces::parse(
      "36 33 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:16 - cgroup cgroup rw,cpu,cpuacct\n"
      "37 33 0:32 / /sys/fs/cgroup/memory rw shared:17 - cgroup cgroup rw,memory\n"
      "38 33 0:33 / /sys/fs/cgroup/pids rw shared:18 - cgroup cgroup rw,pids\n"
      "39 33 0:34 / /sys/fs/cgroup/blkio rw shared:19 - cgroup cgroup rw,blkio\n",
      "8:memory:/system.slice/docker-3f2a.scope\n5:cpu,cpuacct:/system.slice/docker-3f2a.scope\n"
      "4:pids:/system.slice/docker-3f2a.scope\n3:blkio:/system.slice/docker-3f2a.scope\n");
  EXPECT_EQ(old.memory, "/sys/fs/cgroup/memory/system.slice/docker-3f2a.scope");
  EXPECT_EQ(old.cpu, "/sys/fs/cgroup/cpu,cpuacct/system.slice/docker-3f2a.scope");
  EXPECT_EQ(old.pids, "/sys/fs/cgroup/pids/system.slice/docker-3f2a.scope");
  EXPECT_EQ(old.blkio, "/sys/fs/cgroup/blkio/system.slice/docker-3f2a.scope");
}

TEST(CgroupPlaces, RootOfTheUnifiedTree) {
  const CgroupPlaces places =
      CgroupPlaces::parse("31 23 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n", "0::/\n");
  EXPECT_EQ(places.unified, "/sys/fs/cgroup");
}

TEST(CgroupPlaces, TheFirstMountIsTheSystems) {
  const CgroupPlaces places = CgroupPlaces::parse(
      "31 23 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n"
      "99 23 0:26 / /srv/root/sys/fs/cgroup rw - cgroup2 none rw\n",
      "0::/a\n");
  EXPECT_EQ(places.unified, "/sys/fs/cgroup/a");
}

TEST(CgroupPlaces, VersionOneHost) {
  const CgroupPlaces places = CgroupPlaces::parse(
      "34 33 0:29 / /sys/fs/cgroup/systemd rw shared:10 - cgroup cgroup rw,xattr,name=systemd\n"
      "36 33 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:16 - cgroup cgroup rw,cpu,cpuacct\n"
      "37 33 0:32 / /sys/fs/cgroup/memory rw shared:17 - cgroup cgroup rw,memory\n",
      "9:memory:/user.slice\n5:cpu,cpuacct:/user.slice/one\n1:name=systemd:/user.slice\n");
  EXPECT_EQ(places.unified, "");
  EXPECT_EQ(places.memory, "/sys/fs/cgroup/memory/user.slice");
  EXPECT_EQ(places.cpuacct, "/sys/fs/cgroup/cpu,cpuacct/user.slice/one");
}

TEST(CgroupPlaces, HybridHost) {
  const CgroupPlaces places = CgroupPlaces::parse(
      "33 32 0:28 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n"
      "37 33 0:32 / /sys/fs/cgroup/memory rw shared:17 - cgroup cgroup rw,memory\n"
      "38 33 0:33 / /sys/fs/cgroup/cpuacct rw shared:18 - cgroup cgroup rw,cpuacct\n",
      "9:memory:/m\n5:cpuacct:/c\n0::/u\n");
  EXPECT_EQ(places.unified, "/sys/fs/cgroup/unified/u");
  EXPECT_EQ(places.memory, "/sys/fs/cgroup/memory/m");
  EXPECT_EQ(places.cpuacct, "/sys/fs/cgroup/cpuacct/c");
}

// A container without a cgroup namespace: its part of the tree is mounted, paths are the host's.
TEST(CgroupPlaces, ContainerWithTheHostsPaths) {
  const CgroupPlaces places =
      CgroupPlaces::parse("60 55 0:26 /docker/4c1f /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n",
                          "0::/docker/4c1f\n");
  EXPECT_EQ(places.unified, "/sys/fs/cgroup");
  const CgroupPlaces below =
      CgroupPlaces::parse("60 55 0:26 /docker/4c1f /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n",
                          "0::/docker/4c1f/job\n");
  EXPECT_EQ(below.unified, "/sys/fs/cgroup/job");
}

TEST(CgroupPlaces, ContainerWithItsOwnNamespace) {
  const CgroupPlaces places =
      CgroupPlaces::parse("60 55 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n", "0::/\n");
  EXPECT_EQ(places.unified, "/sys/fs/cgroup");
}

TEST(CgroupPlaces, OutsideOfWhatIsMounted) {
  const CgroupPlaces places = CgroupPlaces::parse(
      "60 55 0:26 /docker/4c1f /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/docker/77aa\n");
  EXPECT_EQ(places.unified, "");
}

// "/docker/4c1f2" is not below "/docker/4c1f".
TEST(CgroupPlaces, NamesakeOfWhatIsMounted) {
  const CgroupPlaces places = CgroupPlaces::parse(
      "60 55 0:26 /docker/4c1f /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/docker/4c1f2\n");
  EXPECT_EQ(places.unified, "");
}

TEST(CgroupPlaces, NothingAndGarbage) {
  for (const char* mounts : {"", "\n\n", "no mount at all", "1 2 3 - cgroup2", " - \n - - -\n"}) {
    for (const char* own : {"", "0", "0:", "::::", "0::/a\n", "no\ncolons\n"}) {
      const CgroupPlaces places = CgroupPlaces::parse(mounts, own);
      EXPECT_EQ(places.unified + places.memory + places.cpuacct, "") << mounts << own;
    }
  }
}

TEST(CgroupPlaces, ThisHost) { EXPECT_TRUE(CgroupPlaces::find().ok()); }

// Folders in a scratch place stand in for the trees.
class CgroupLeaves : public ::testing::Test {
 protected:
  std::string made(const std::string& name) {
    std::string path = folder_.path() + "/" + name;
    fs::create_directories(path);
    return path;
  }
  TempFolder folder_;
};

TEST_F(CgroupLeaves, OneInEveryTree) {
  CgroupPlaces places{made("unified/session"), made("memory/session"), made("cpuacct/session")};
  auto cgroup = Cgroup::create_in(places, "fathom-x-1");
  ASSERT_TRUE(cgroup.ok());
  EXPECT_EQ(cgroup.value().memory(), places.memory + "/fathom-x-1");
  EXPECT_EQ(cgroup.value().cpuacct(), places.cpuacct + "/fathom-x-1");
  EXPECT_TRUE(fs::is_directory(cgroup.value().unified()));
  EXPECT_TRUE(fs::is_directory(cgroup.value().memory()));
  const std::string unified = cgroup.value().unified();
  cgroup.value().remove();
  EXPECT_FALSE(fs::exists(unified));
  EXPECT_TRUE(fs::is_empty(places.memory));
  EXPECT_TRUE(fs::is_empty(places.cpuacct));
}

TEST_F(CgroupLeaves, BesideOurOwnWhereNoLimitIsEscaped) {
  CgroupPlaces places{made("unified/session"), "", ""};
  ASSERT_TRUE(write_file(folder_.path() + "/unified/cgroup.procs", "").ok());
  auto cgroup = Cgroup::create_in(places, "fathom-x-1");
  ASSERT_TRUE(cgroup.ok());
  EXPECT_EQ(cgroup.value().unified(), folder_.path() + "/unified/fathom-x-1");
}

TEST_F(CgroupLeaves, BelowOurOwnWhereALimitHolds) {
  CgroupPlaces places{made("unified/session"), "", ""};
  ASSERT_TRUE(write_file(folder_.path() + "/unified/cgroup.procs", "").ok());
  ASSERT_TRUE(write_file(places.unified + "/memory.max", "1073741824\n").ok());
  auto cgroup = Cgroup::create_in(places, "fathom-x-1");
  ASSERT_TRUE(cgroup.ok());
  EXPECT_EQ(cgroup.value().unified(), places.unified + "/fathom-x-1");
}

TEST_F(CgroupLeaves, UnlimitedIsNoLimit) {
  CgroupPlaces places{made("unified/session"), "", ""};
  ASSERT_TRUE(write_file(folder_.path() + "/unified/cgroup.procs", "").ok());
  ASSERT_TRUE(write_file(places.unified + "/memory.max", "max\n").ok());
  ASSERT_TRUE(write_file(places.unified + "/cpu.max", "max 100000\n").ok());
  auto cgroup = Cgroup::create_in(places, "fathom-x-1");
  ASSERT_TRUE(cgroup.ok());
  EXPECT_EQ(cgroup.value().unified(), folder_.path() + "/unified/fathom-x-1");
}

TEST_F(CgroupLeaves, ThoseThatCannotBeMadeAreLeftOut) {
  CgroupPlaces places{folder_.path() + "/absent/one", made("memory"), ""};
  auto cgroup = Cgroup::create_in(places, "fathom-x-1");
  ASSERT_TRUE(cgroup.ok());
  EXPECT_EQ(cgroup.value().unified(), "");
  EXPECT_EQ(cgroup.value().memory(), places.memory + "/fathom-x-1");
}

TEST_F(CgroupLeaves, NoneAtAllIsAnErrorWithAHint) {
  const auto cgroup = Cgroup::create_in({folder_.path() + "/absent/one", "", ""}, "fathom-x-1");
  ASSERT_FALSE(cgroup.ok());
  EXPECT_EQ(cgroup.error().code, Code::kPermission);
  EXPECT_NE(cgroup.error().hint, "");
}

TEST_F(CgroupLeaves, AddWritesThePid) {
  CgroupPlaces places{"", made("memory"), ""};
  auto cgroup = Cgroup::create_in(places, "fathom-x-1");
  ASSERT_TRUE(cgroup.ok());
  ASSERT_TRUE(cgroup.value().add(4711).ok());
  EXPECT_EQ(read_file(cgroup.value().memory() + "/cgroup.procs").value_or(""), "4711");
}

TEST_F(CgroupLeaves, RemovingOneThatIsGoneIsFine) {
  EXPECT_TRUE(remove_cgroup(folder_.path() + "/gone").ok());
}

// Needs a host that lets us make cgroups.
TEST(Cgroup, RealLeafTakesAProcessAndGivesItBack) {
  auto cgroup = Cgroup::create("20260101T000000Z-0badcafe");
  if (!cgroup.ok()) GTEST_SKIP() << cgroup.error().message;
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_TRUE(cgroup.value().add(child).ok());
  const std::string leaf =
      !cgroup.value().unified().empty() ? cgroup.value().unified() : cgroup.value().memory();
  EXPECT_EQ(read_file(leaf + "/cgroup.procs").value_or(""), std::to_string(child) + "\n");
  const std::vector<std::string> left = leftover_cgroups();
  EXPECT_EQ(std::count(left.begin(), left.end(), leaf), 1)
      << "this test is no fathom: its leaf counts as left";
  cgroup.value().remove();
  EXPECT_FALSE(fs::exists(leaf));
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace fathom
