// SPDX-License-Identifier: Apache-2.0
#include "launch/container/instructions.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Steps, ReadWhatTheySay) {
  const auto read = parse_steps(
      "steps:\n"
      "  - name: serve\n"
      "    background: true\n"
      "  - name: load\n"
      "    command: ./load.sh \"$FATHOM_DATA\"\n"
      "    data: tmp:/inside\n"
      "    time_limit: 1500ms\n"
      "    repeat: 3\n"
      "    env: {A: \"1\"}\n"
      "  - command: [/bin/x, a b]\n",
      "s.yaml", "/");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const auto& steps = read.value().steps;
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_TRUE(steps[0].background && steps[0].command.empty());
  EXPECT_EQ(steps[1].command,
            (std::vector<std::string>{"/bin/sh", "-c", "./load.sh \"$FATHOM_DATA\""}));
  EXPECT_EQ(steps[1].data, "/inside");
  EXPECT_EQ(steps[1].time_limit_ns, 1'500'000'000);
  EXPECT_EQ(steps[1].repeat, 3);
  EXPECT_EQ(steps[1].settings, std::vector<std::string>{"A=1"});
  EXPECT_EQ(steps[2].name, "step 3");
  EXPECT_EQ(steps[2].command, (std::vector<std::string>{"/bin/x", "a b"}));
  ASSERT_EQ(read.value().mounts.size(), 1U);
  EXPECT_EQ(read.value().mounts[0].source, "/tmp");
  EXPECT_TRUE(read.value().mounts[0].read_only);
}

TEST(Steps, AListAloneIsEnough) {
  EXPECT_EQ(parse_steps("- command: ls\n- command: ls\n", "s", "/").value().steps.size(), 2U);
}

TEST(Steps, WhatIsWrongIsSaidWithItsLine) {
  const std::pair<const char*, const char*> wrong[] = {
      {"steps: []\n", "s:1"},
      {"nothing: here\n", "no steps"},
      {"- ls\n", "s:1"},
      {"- command: ls\n  tiem_limit: 3s\n", "tiem_limit"},
      {"- command: ls\n  time_limit: soon\n", "s:2"},
      {"- command: ls\n  repeat: 0\n", "repetitions"},
      {"- command: ls\n  repeat: 1000000000\n", "repetitions"},
      {"- command: []\n", "empty"},
      {"- command: ls\n  data: /not/there\n", "cannot read the data"},
      {"- name: a\n  command: ls\n- name: a\n  command: ls\n", "two steps"},
      {"- name: a\n  background: true\n", "nothing is waited for"},
      {"- name: \"a\\nb\"\n  command: ls\n", "no name"},
      {"- command: {a: b}\n", "empty"},
  };
  for (const auto& [text, word] : wrong) {
    const auto read = parse_steps(text, "s", "/");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.error().message.find(word), std::string::npos) << read.error().message;
  }
}

TEST(Instructions, AFileIsAScriptOrSteps) {
  EXPECT_FALSE(load_instructions("/not/there.yaml").ok());
  EXPECT_FALSE(load_instructions("/etc/passwd").ok());
}

}  // namespace
}  // namespace fathom
