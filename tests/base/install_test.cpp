// SPDX-License-Identifier: Apache-2.0
#include "base/install.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/fd.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class InstallTest : public testing::Test {
 protected:
  void TearDown() override { unsetenv("FATHOM_HOME"); }
};

TEST_F(InstallTest, BesideTheProgram) {
  unsetenv("FATHOM_HOME");
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const std::string name =
      program.parent_path().filename().string() + "/" + program.filename().string();
  EXPECT_EQ(find_installed(name).value(), program.string());
}

TEST_F(InstallTest, TheVariableWins) {
  const fs::path home = fs::temp_directory_path() / ("fathom_home." + std::to_string(getpid()));
  fs::create_directories(home / "lib");
  ASSERT_TRUE(write_file((home / "lib/part").string(), "x").ok());
  setenv("FATHOM_HOME", home.c_str(), 1);
  EXPECT_EQ(find_installed("lib/part").value(), (home / "lib/part").string());
  fs::remove_all(home);
}

TEST_F(InstallTest, WhatIsMissingSaysWhereAndWhatToDo) {
  setenv("FATHOM_HOME", "/nowhere", 1);
  const auto found = find_installed("lib/part");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::kNotFound);
  EXPECT_NE(found.error().message.find("/nowhere/lib/part"), std::string::npos);
  EXPECT_NE(found.error().hint.find("FATHOM_HOME"), std::string::npos);
}

}  // namespace
}  // namespace fathom
