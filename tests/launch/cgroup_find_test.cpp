// SPDX-License-Identifier: Apache-2.0
// Finding a cgroup that exists, in folders that stand for the trees of a host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/fd.h"
#include "launch/cgroup.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class CgroupFind : public ::testing::Test {
 protected:
  void put(const std::string& cgroup, const std::string& pids) {
    std::filesystem::create_directories(folder_ / cgroup);
    ASSERT_TRUE(write_file(folder_ / cgroup + "/cgroup.procs", pids).ok());
  }
  TempFolder folder_;
};

TEST(CgroupRoots, AreWhereTheTreesAreMounted) {
  const CgroupPlaces roots = CgroupPlaces::roots(
      "22 27 0:21 / /proc rw,nosuid - proc proc rw\n"
      "33 32 0:28 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n"
      "37 33 0:32 / /sys/fs/cgroup/memory rw shared:17 - cgroup cgroup rw,memory\n"
      "39 33 0:34 / /sys/fs/cgroup/perf_event rw - cgroup cgroup rw,perf_event\n"
      "38 33 0:33 / /sys/fs/cgroup/cpu,cpuacct rw shared:18 - cgroup cgroup rw,cpu,cpuacct");
  EXPECT_EQ(roots.unified, "/sys/fs/cgroup/unified");
  EXPECT_EQ(roots.memory, "/sys/fs/cgroup/memory");
  EXPECT_EQ(roots.cpuacct, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(roots.perf_event, "/sys/fs/cgroup/perf_event");
}

TEST(CgroupRoots, OfAContainerAreItsPart) {
  const CgroupPlaces roots =
      CgroupPlaces::roots("60 55 0:26 /docker/4c1f /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n");
  EXPECT_EQ(roots.unified, "/sys/fs/cgroup");
  EXPECT_EQ(roots.memory, "");
}

TEST_F(CgroupFind, ByPathAndByFolder) {
  put("v2", "");
  put("v2/a", "");
  put("v2/a/b", "11\n12\n");
  const CgroupPlaces roots{folder_ / "v2", {}, {}};
  for (const std::string& name : {std::string("/a/b"), std::string("a/b"), std::string("a/b/"),
                                  folder_ / "v2/a/b", folder_ / "v2/a//b/"}) {
    const auto found = Cgroup::find_in(roots, name);
    ASSERT_TRUE(found.ok()) << name << ": " << found.error().message;
    EXPECT_EQ(found.value().unified(), folder_ / "v2/a/b") << name;
    EXPECT_EQ(found.value().perf_event(), folder_ / "v2/a/b") << name;
    EXPECT_EQ(found.value().memory(), "") << name;
  }
}

TEST_F(CgroupFind, TakesTheSamePathInAllTrees) {
  put("v2/a", "");
  put("memory", "");
  put("memory/a", "");
  put("cpuacct/b", "");
  const CgroupPlaces roots{folder_ / "v2", folder_ / "memory", folder_ / "cpuacct"};
  const auto found = Cgroup::find_in(roots, folder_ / "memory/a");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found.value().unified(), folder_ / "v2/a");
  EXPECT_EQ(found.value().memory(), folder_ / "memory/a");
  EXPECT_EQ(found.value().cpuacct(), "");
}

TEST_F(CgroupFind, RefusesWhatIsNone) {
  put("v2", "");
  std::filesystem::create_directories(folder_ / "v2/none");
  const CgroupPlaces roots{folder_ / "v2", {}, {}};
  for (const char* name : {"/a", "none", "", "../v2x"}) {
    const auto found = Cgroup::find_in(roots, name);
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_THAT(found.error().message, HasSubstr("there is no cgroup")) << name;
  }
}

TEST_F(CgroupFind, ListsProcessesBelowAsWell) {
  put("v2", "");
  put("v2/a", "7\n");
  put("v2/a/b", "11\n12\n");
  put("v2/a/b/c", "13\n");
  const CgroupPlaces roots{folder_ / "v2", {}, {}};
  EXPECT_THAT(Cgroup::find_in(roots, "a").value().processes(), UnorderedElementsAre(7, 11, 12, 13));
}

// As on a host where the unified tree has the folder, and a version-1 tree the processes.
TEST_F(CgroupFind, LooksForProcessesWhereTheyAre) {
  put("v2/a", "");
  put("memory/a", "21\n");
  const CgroupPlaces roots{folder_ / "v2", folder_ / "memory", {}};
  EXPECT_THAT(Cgroup::find_in(roots, "a").value().processes(), UnorderedElementsAre(21));
}

}  // namespace
}  // namespace fathom
