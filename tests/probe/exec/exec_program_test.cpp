// SPDX-License-Identifier: Apache-2.0
#include "probe/exec/exec_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "base/text.h"

namespace fathom {
namespace {

using testing::HasSubstr;
using Lines = std::vector<std::string>;

struct Started {
  explicit Started(const std::string& command, const std::vector<std::string>& environment = {}) {
    auto made = ExecProgram::start(command, environment);
    EXPECT_TRUE(made.ok());
    program = std::move(made).value();
  }
  void read_until(size_t count) {
    for (int left = 2000; left > 0 && lines.size() < count; --left) {
      program->read(take);
      usleep(2000);
    }
  }
  void await_end() const {
    for (int left = 5000; left > 0 && !program->has_ended(); --left) usleep(2000);
    EXPECT_TRUE(program->has_ended());
  }
  void end() { program->end(take); }

  Lines lines;
  ExecProgram::Take take = [this](std::string_view line) { lines.emplace_back(line); };
  std::unique_ptr<ExecProgram> program;
};

TEST(ExecProgram, GivesLinesAsTheyComeAndTheLastWithoutEnd) {
  Started started("echo one; echo two >&2; printf 'thr'; sleep 0.05; printf 'ee\\n%s' $FOUR",
                  {"FOUR=4"});
  started.read_until(2);
  EXPECT_EQ(started.lines, (Lines{"one", "three"}));
  started.end();
  EXPECT_EQ(started.lines, (Lines{"one", "three", "4"}));
  EXPECT_EQ(started.program->failure(), "");
}

TEST(ExecProgram, EndsAllThatItStarted) {
  Started started("sleep 1000 & echo $!; wait");
  started.read_until(1);
  ASSERT_EQ(started.lines.size(), 1U);
  const auto child = parse_number(started.lines[0]);
  started.end();
  for (int left = 5000; left > 0 && kill(static_cast<pid_t>(child.value()), 0) == 0; --left)
    usleep(2000);
  // Reaped by init, or a zombie where there is none.
  const std::string state = "/proc/" + started.lines[0] + "/exe";
  char target[16];
  EXPECT_LT(readlink(state.c_str(), target, sizeof target), 0);
  EXPECT_EQ(started.program->failure(), "") << "it was ended, and did not fail";
}

TEST(ExecProgram, OneThatWillNotEndIsKilled) {
  Started started("trap '' TERM; echo $$; while :; do sleep 0.1; done");
  started.read_until(1);
  ASSERT_EQ(started.lines.size(), 1U);
  const auto pid = parse_number(started.lines[0]);
  started.end();
  EXPECT_EQ(kill(static_cast<pid_t>(pid.value()), 0), -1) << "it was killed and reaped";
}

TEST(ExecProgram, SaysHowItFailed) {
  Started started("echo first >&2; printf 'last \\033words\\n\\n' >&2; echo; exit 3");
  started.await_end();
  started.end();
  EXPECT_THAT(started.program->failure(), HasSubstr("ended with status 3: last "));
  EXPECT_THAT(started.program->failure(), HasSubstr("words"));
  EXPECT_EQ(started.program->failure().find('\033'), std::string::npos);

  Started missing("no-such-program-4099");
  missing.await_end();
  missing.end();
  EXPECT_THAT(missing.program->failure(), HasSubstr("status 127"));
}

TEST(ExecProgram, AFloodIsReadInPiecesAndLongLinesAreCounted) {
  Started started("head -c 200000 /dev/zero | tr '\\0' x; echo; exec yes 'a 1 b'");
  started.read_until(1000);
  EXPECT_GE(started.lines.size(), 1000U);
  EXPECT_EQ(started.lines[0], "a 1 b");
  EXPECT_EQ(started.program->too_long(), 1);
}

TEST(ExecProgram, SignalsThatTheRecorderHoldsBackReachIt) {
  sigset_t held, before;
  sigemptyset(&held);
  sigaddset(&held, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &held, &before);
  Started started("trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  started.read_until(1);
  started.end();
  EXPECT_EQ(started.lines, (Lines{"ready", "asked"}));
}

}  // namespace
}  // namespace fathom
