// SPDX-License-Identifier: Apache-2.0
#include "session/folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/fd.h"
#include "record/recording.h"
#include "sink/record_stream.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Works in a scratch folder, as names without a folder are made in the current one.
class RunFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    fs::current_path(scratch_.path());
  }
  void TearDown() override { fs::current_path(before_); }

  static std::string made(const std::string& wanted,
                          const std::vector<std::string>& command = {"x"}) {
    const auto folder = make_run_folder(wanted, command);
    EXPECT_TRUE(folder.ok()) << folder.error().message;
    if (!folder.ok()) return "";
    EXPECT_TRUE(fs::is_directory(folder.value()));
    return folder.value();
  }

  TempFolder scratch_;
  fs::path before_;
};

TEST_F(RunFolder, GetsTheSuffixOnce) {
  EXPECT_EQ(made("one"), "one.fathom");
  EXPECT_EQ(made("two.fathom"), "two.fathom");
  EXPECT_EQ(made("three/"), "three.fathom");
  EXPECT_EQ(made("four.fathom//"), "four.fathom");
  EXPECT_EQ(made(scratch_.path() + "/five"), scratch_.path() + "/five.fathom");
}

TEST_F(RunFolder, IsNumberedByTheCommand) {
  EXPECT_EQ(made("", {"/usr/bin/make", "-j2"}), "make-1.fathom");
  EXPECT_EQ(made("", {"make"}), "make-2.fathom");
  fs::create_directory("make-3.fathom");
  EXPECT_EQ(made("", {"./make"}), "make-4.fathom");
  EXPECT_EQ(made("", {"other"}), "other-1.fathom");
}

TEST_F(RunFolder, FillsAGap) {
  fs::create_directory("make-2.fathom");
  EXPECT_EQ(made("", {"make"}), "make-1.fathom");
  EXPECT_EQ(made("", {"make"}), "make-3.fathom");
}

TEST_F(RunFolder, NamesArePlain) {
  EXPECT_EQ(made("", {"a b$c\n"}), "a_b_c_-1.fathom");
  EXPECT_EQ(made("", {"g++-12"}), "g++-12-1.fathom");
  EXPECT_EQ(made("", {""}), "run-1.fathom");
  EXPECT_EQ(made("", {"."}), "run-2.fathom");
  EXPECT_EQ(made("", {".hidden"}), "run-3.fathom");
  EXPECT_EQ(made("", {"/"}), "run-4.fathom");
  EXPECT_EQ(made("", {std::string(300, 'y')}), std::string(64, 'y') + "-1.fathom");
}

TEST_F(RunFolder, OneThatExistsIsRefused) {
  fs::create_directory("a.fathom");
  ASSERT_TRUE(write_file("a.fathom/runs.parquet", "kept").ok());
  const auto again = make_run_folder("a", {"x"});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::kExists);
  EXPECT_NE(again.error().hint, "");
  EXPECT_EQ(read_file("a.fathom/runs.parquet").value_or(""), "kept");
}

TEST_F(RunFolder, AFileOfThatNameIsRefused) {
  ASSERT_TRUE(write_file("a.fathom", "kept").ok());
  EXPECT_EQ(make_run_folder("a", {"x"}).error().code, Code::kExists);
  EXPECT_EQ(read_file("a.fathom").value_or(""), "kept");
}

TEST_F(RunFolder, AMissingParentIsAnError) {
  const auto folder = make_run_folder("absent/a", {"x"});
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code, Code::kNotFound);
}

TEST_F(RunFolder, AFolderThatCannotBeWrittenGivesAHint) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::create_directory("locked");
  fs::permissions("locked", fs::perms::owner_read | fs::perms::owner_exec);
  const auto folder = make_run_folder("locked/a", {"x"});
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code, Code::kPermission);
  EXPECT_NE(folder.error().hint, "");
}

TEST_F(RunFolder, DropRemovesOnlyWhatARunMade) {
  const std::string folder = made("a");
  ASSERT_TRUE(write_file(folder + "/journal", "x").ok());
  drop_run_folder(folder);
  EXPECT_FALSE(fs::exists(folder));
  const std::string full = made("b");
  ASSERT_TRUE(write_file(full + "/notes", "mine").ok());
  drop_run_folder(full);
  EXPECT_TRUE(fs::exists(full + "/notes"));
}

// A journal in FOLDER as a recorder makes it; held open until the sink goes, sealed if closed.
std::unique_ptr<Sink> journal_in(const std::string& folder, bool sealed) {
  fs::create_directories(folder);
  auto sink = open_sink("file", folder + "/" + kJournalName);
  EXPECT_TRUE(sink.ok());
  RecordStream out(*sink.value());
  Run run;
  run.id = out.string("id");
  out.add(run);
  out.flush();
  if (sealed) {
    EXPECT_TRUE(out.close().ok());
  }
  return std::move(sink).value();
}

TEST_F(RunFolder, RecoveryLeavesAlone) {
  journal_in("make-1.fathom", true);                          // ended in order
  const auto recording = journal_in("make-2.fathom", false);  // being recorded
  journal_in("other-1.fathom", false);                        // killed, but not of this name
  fs::create_directory("make-3.fathom");                      // empty
  fs::create_directory("make-4.fathom");
  ASSERT_TRUE(write_file("make-4.fathom/journal", "garbage").ok());
  EXPECT_TRUE(recover_left_behind("make-5.fathom").empty());
  EXPECT_TRUE(fs::exists("make-1.fathom/journal"));
  EXPECT_TRUE(fs::exists("make-2.fathom/journal"));
  EXPECT_TRUE(fs::exists("other-1.fathom/journal"));
  EXPECT_EQ(read_file("make-4.fathom/journal").value_or(""), "garbage");
}

TEST_F(RunFolder, WhatIsSetAsideGoesWhenItIsReplaced) {
  journal_in("a.fathom", true);
  {
    const auto moved = SetAside::make("a.fathom");
    ASSERT_TRUE(moved.ok()) << moved.error().message;
    EXPECT_EQ(made("a"), "a.fathom");
  }
  EXPECT_TRUE(fs::is_empty("a.fathom"));
  EXPECT_FALSE(fs::exists("a.fathom.replaced"));
}

TEST_F(RunFolder, WhatIsSetAsideComesBackWhenItIsNot) {
  journal_in("a.fathom", true);
  {
    const auto moved = SetAside::make("a.fathom");
    ASSERT_TRUE(moved.ok()) << moved.error().message;
    EXPECT_FALSE(fs::exists("a.fathom"));
  }
  EXPECT_TRUE(fs::exists("a.fathom/journal"));
  EXPECT_FALSE(fs::exists("a.fathom.replaced"));
}

TEST_F(RunFolder, NothingToSetAsideIsFine) { EXPECT_TRUE(SetAside::make("absent.fathom").ok()); }

TEST_F(RunFolder, OnlyAFinishedRecordingIsSetAside) {
  const auto refused = [](const char* folder) {
    const auto moved = SetAside::make(folder);
    return !moved.ok() && moved.error().code == Code::kExists && fs::exists(folder);
  };
  fs::create_directory("empty.fathom");
  EXPECT_TRUE(refused("empty.fathom"));
  const auto recording = journal_in("live.fathom", false);
  EXPECT_TRUE(refused("live.fathom"));
  journal_in("mine.fathom", true);
  ASSERT_TRUE(write_file("mine.fathom/notes.txt", "precious").ok());
  EXPECT_TRUE(refused("mine.fathom"));
  journal_in("real.fathom", true);
  fs::create_directory_symlink("real.fathom", "link.fathom");
  EXPECT_TRUE(refused("link.fathom"));
  ASSERT_TRUE(write_file("file.fathom", "precious").ok());
  EXPECT_TRUE(refused("file.fathom"));
}

TEST_F(RunFolder, RecoveryOfAMissingFolderFindsNothing) {
  EXPECT_TRUE(recover_left_behind("absent/make-1.fathom").empty());
}

}  // namespace
}  // namespace fathom
