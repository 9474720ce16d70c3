// SPDX-License-Identifier: Apache-2.0
#include "cli/run_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/proc.h"
#include "cli/all_commands.h"
#include "cli/complete.h"
#include "cli/parse.h"

namespace fathom {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

Result<RunTarget> target(Words words) {
  words.insert(words.begin(), "run");
  TRY_ASSIGN(const Arguments arguments, parse_command_line(all_commands(), words));
  return run_target_from(arguments);
}

std::string target_error(const Words& words) {
  const auto found = target(words);
  if (found.ok()) return "taken";
  EXPECT_EQ(found.error().code, Code::kInvalid);
  return found.error().message + " | " + found.error().hint;
}

TEST(RunTarget, IsTheCommand) {
  const auto found = target({"-e", "A=b", "-C", "/tmp", "--", "make", "--pid", "3"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_STREQ(found.value().launcher->name, "process");
  EXPECT_EQ(found.value().request.command, (Words{"make", "--pid", "3"}));
  EXPECT_EQ(found.value().request.cwd, "/tmp");
  EXPECT_EQ(found.value().name, "make");
}

TEST(RunTarget, IsAProcessByItsName) {
  const std::string pid = std::to_string(getpid());
  for (const Words& words : {Words{"--pid", pid + ",1"}, Words{"--pid", pid, "--pid", "1"}}) {
    const auto found = target(words);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_STREQ(found.value().launcher->name, "attach-pid");
    EXPECT_EQ(found.value().request.attach_to, pid + ",1");
    EXPECT_EQ(found.value().name, read_proc_name("/proc/self").value());
  }
}

TEST(RunTarget, IsACgroupOrTheHost) {
  const auto cgroup = target({"--cgroup", "/a/b.slice/"});
  ASSERT_TRUE(cgroup.ok());
  EXPECT_STREQ(cgroup.value().launcher->name, "attach-cgroup");
  EXPECT_EQ(cgroup.value().request.attach_to, "/a/b.slice/");
  EXPECT_EQ(cgroup.value().name, "b.slice");
  const auto system = target({"--system"});
  ASSERT_TRUE(system.ok());
  EXPECT_STREQ(system.value().launcher->name, "attach-system");
  EXPECT_EQ(system.value().name, "system");
}

TEST(RunTarget, IsOneOnly) {
  EXPECT_THAT(target_error({"--pid", "1", "--system"}), HasSubstr("--pid and --system exclude"));
  EXPECT_THAT(target_error({"--cgroup", "a", "--system"}),
              HasSubstr("--cgroup and --system exclude"));
  EXPECT_THAT(target_error({"--pid", "1", "2"}), HasSubstr("takes no command ('2') | several ids"));
  EXPECT_THAT(target_error({"--system", "--", "ls"}), HasSubstr("takes no command ('ls')"));
  EXPECT_THAT(target_error({}), HasSubstr("no command to run | fathom run -- COMMAND"));
}

TEST(RunTarget, SaysWhichFlagsAreForCommandsOnly) {
  EXPECT_THAT(target_error({"--pid", "1", "-e", "A=b"}), HasSubstr("--env is for a command"));
  EXPECT_THAT(target_error({"--system", "-C", "/"}), HasSubstr("--cwd is for a command"));
  EXPECT_THAT(target_error({"--system", "--grace", "1s"}), HasSubstr("--grace is for a command"));
  EXPECT_THAT(target_error({"-e", "A", "ls"}), HasSubstr("--env A has no value"));
  EXPECT_THAT(target_error({"-e", "=x", "ls"}), HasSubstr("--env =x has no name"));
}

TEST(RunTarget, CompletionOffersProcesses) {
  const Words offered = completion_words(all_commands(), "pid");
  EXPECT_THAT(offered, Contains(std::to_string(getppid())));
  EXPECT_THAT(offered, Not(Contains(std::to_string(getpid()))));
}

}  // namespace
}  // namespace fathom
