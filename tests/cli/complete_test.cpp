// SPDX-License-Identifier: Apache-2.0
// The scripts are given to the shells they are for, where those are here.
#include "cli/complete.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/fd.h"
#include "base/text.h"
#include "cli/all_commands.h"
#include "cli/man.h"
#include "sample_commands.h"

namespace fathom {
namespace {

bool has_program(const std::string& name) {
  return system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

class GeneratedTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "complete_test.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // Runs a shell line in a folder with the text as "it"; returns what it printed, or its failure.
  std::string run(const std::string& line, const std::string& text) {
    EXPECT_TRUE(write_file(root_ + "/it", text).ok());
    const int status = system(("cd " + root_ + " && { " + line + "\n} > out 2>&1").c_str());
    return (status == 0 ? "" : "failed: ") + read_file(root_ + "/out").value_or("");
  }

  // What bash offers for the last of the words.
  std::string bash_offers(const std::vector<std::string>& words) {
    const std::string script = "source ./it; COMP_WORDS=(" + shell_quote(words) +
                               "); COMP_CWORD=" + std::to_string(words.size() - 1) +
                               "; _fathom; echo \"${COMPREPLY[*]}\"";
    std::string offers = run("bash --norc -c " + shell_quote(std::string_view(script)),
                             bash_completion(kSampleCommands));
    if (offers.ends_with('\n')) offers.pop_back();
    return offers;
  }

  std::string root_;
};

TEST_F(GeneratedTest, BashReadsIt) {
  if (!has_program("bash")) GTEST_SKIP() << "no bash here";
  EXPECT_EQ(run("bash -n it", bash_completion(all_commands())), "");
  EXPECT_EQ(run("bash -n it", bash_completion(kSampleCommands)), "");
}

TEST_F(GeneratedTest, BashOffersWhatIsDue) {
  if (!has_program("bash")) GTEST_SKIP() << "no bash here";
  std::filesystem::create_directory(root_ + "/make-1.fathom");
  EXPECT_EQ(bash_offers({"fathom", "r"}), "run");
  EXPECT_EQ(bash_offers({"fathom", ""}), "run query");
  EXPECT_EQ(bash_offers({"fathom", "--verb"}), "--verbose");
  EXPECT_EQ(bash_offers({"fathom", "run", "--in"}), "--interval");
  EXPECT_EQ(bash_offers({"fathom", "run", "--probe", "s"}), "stacks");
  EXPECT_EQ(bash_offers({"fathom", "run", "-p", "io,c"}), "io,cuda");
  EXPECT_EQ(bash_offers({"fathom", "run", "--probe", "=", "s"}), "stacks");
  EXPECT_EQ(bash_offers({"fathom", "run", "--probe", "="}), "stacks io cuda");
  EXPECT_EQ(bash_offers({"fathom", "run", "--output", "m"}), "make-1.fathom");
  EXPECT_EQ(bash_offers({"fathom", "query", "m"}), "make-1.fathom");
  EXPECT_EQ(bash_offers({"fathom", "query", "a", "m"}), "make-1.fathom");
  EXPECT_EQ(bash_offers({"fathom", "run", "-p", "io", "tool", "ma"}), "make-1.fathom");
  EXPECT_EQ(bash_offers({"fathom", "run", "--", "tool", "--in"}), "");
}

TEST_F(GeneratedTest, ZshReadsIt) {
  if (!has_program("zsh")) GTEST_SKIP() << "no zsh here";
  EXPECT_EQ(run("zsh -n it", zsh_completion(all_commands())), "");
  EXPECT_EQ(run("zsh -n it", zsh_completion(kSampleCommands)), "");
}

TEST_F(GeneratedTest, FishReadsIt) {
  if (!has_program("fish")) GTEST_SKIP() << "no fish here";
  EXPECT_EQ(run("fish -n it", fish_completion(all_commands())), "");
  EXPECT_EQ(run("fish -n it", fish_completion(kSampleCommands)), "");
}

TEST_F(GeneratedTest, FishOffersWhatIsDue) {
  if (!has_program("fish")) GTEST_SKIP() << "no fish here";
  const auto offers = [this](const std::string& line) {
    return run("HOME=$PWD fish --no-config -c 'source it; complete -C " +
                   shell_quote("\"" + line + "\"").substr(1) + " | cut -f1",
               fish_completion(kSampleCommands));
  };
  EXPECT_EQ(offers("fathom r"), "run\n");
  EXPECT_EQ(offers("fathom run --in"), "--interval\n");
  EXPECT_EQ(offers("fathom run --probe s"), "stacks\n");
  EXPECT_EQ(offers("fathom query --qu"), "--quiet\n");
  EXPECT_EQ(offers("fathom run -p io -- printf --in"), "");
}

TEST_F(GeneratedTest, TheManualPageIsCleanRoff) {
  std::vector<std::string> pages = {tool_man_page(all_commands()), tool_man_page(kSampleCommands),
                                    command_man_page(kSampleRun)};
  for (const Command* command : all_commands()) pages.push_back(command_man_page(*command));
  if (!has_program("groff")) GTEST_SKIP() << "no groff here";
  for (const std::string& page : pages) {
    EXPECT_EQ(run("groff -man -Tascii -ww it > /dev/null", page), "");
  }
}

TEST(RoffEscape, ShowsTextAsItIs) {
  EXPECT_EQ(roff_escape(".so /etc/x"), "\\&.so /etc/x");
  EXPECT_EQ(roff_escape("'br"), "\\&\\(aqbr");
  EXPECT_EQ(roff_escape("a\\fBb --x"), "a\\(rsfBb \\-\\-x");
  EXPECT_EQ(roff_escape("µ"), "\\[u00B5]");
}

TEST(CompletionWords, ListCommandsButNoHiddenOnes) {
  EXPECT_EQ(completion_words(kSampleCommands, "command"),
            (std::vector<std::string>{"run", "query"}));
  EXPECT_TRUE(completion_words(kSampleCommands, "nonsense").empty());
}

}  // namespace
}  // namespace fathom
