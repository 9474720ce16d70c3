// SPDX-License-Identifier: Apache-2.0
#include "base/subprocess.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(SubprocessTest, KeepsOutputAndStatus) {
  const auto finished = run_to_end({"sh", "-c", "echo out; echo err >&2; exit 23"});
  ASSERT_TRUE(finished.ok());
  EXPECT_EQ(finished.value().status, 23);
  EXPECT_EQ(finished.value().output, "out\nerr\n");
}

TEST(SubprocessTest, ASignalIs128AndItsNumber) {
  EXPECT_EQ(run_to_end({"sh", "-c", "kill -9 $$"}).value().status, 128 + 9);
}

TEST(SubprocessTest, WordsAreNotSplit) {
  EXPECT_EQ(run_to_end({"printf", "%s|", "a b", "", "$HOME"}).value().output, "a b||$HOME|");
}

TEST(SubprocessTest, StdinIsEmpty) { EXPECT_EQ(run_to_end({"cat"}).value().output, ""); }

TEST(SubprocessTest, MuchOutputIsCutAndDoesNotBlock) {
  const auto finished = run_to_end({"sh", "-c", "head -c 3000000 /dev/zero; exit 4"});
  ASSERT_TRUE(finished.ok());
  EXPECT_EQ(finished.value().status, 4);
  EXPECT_EQ(finished.value().output.size(), 1U << 20);
}

TEST(SubprocessTest, WhatIsNotThereIsAnError) {
  const auto finished = run_to_end({"no-such-program-of-ours"});
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().code, Code::kNotFound);
  EXPECT_NE(finished.error().message.find("no-such-program-of-ours"), std::string::npos);
}

}  // namespace
}  // namespace fathom
