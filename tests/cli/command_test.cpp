// SPDX-License-Identifier: Apache-2.0
// Walks every command of the table: what a person meets in --help must be there and must not clash.
#include "cli/command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/all_commands.h"
#include "cli/cli.h"
#include "cli/complete.h"
#include "cli/help.h"
#include "cli/parse.h"

namespace fathom {

// For the names of tests: gtest would print an address, another one in every run.
static void PrintTo(const Command* command, std::ostream* out) { *out << command->name; }

namespace {

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char byte) { return (byte >= ' ' && byte <= '~') || byte == '\n'; });
}

class EveryCommand : public testing::TestWithParam<const Command*> {};

INSTANTIATE_TEST_SUITE_P(Table, EveryCommand,
                         testing::ValuesIn(all_commands().begin(), all_commands().end()),
                         [](const auto& each) {
                           std::string name = each.param->name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryCommand, SaysWhatItIs) {
  const Command& command = *GetParam();
  ASSERT_NE(command.name, nullptr);
  ASSERT_NE(command.group, nullptr);
  ASSERT_NE(command.summary, nullptr);
  ASSERT_NE(command.description, nullptr);
  ASSERT_NE(command.run, nullptr);
  EXPECT_LE(std::string_view(command.summary).size(), 62U) << "one line of the overview";
  EXPECT_FALSE(std::string_view(command.summary).ends_with('.'));
  EXPECT_TRUE(is_plain(command.summary));
  EXPECT_TRUE(is_plain(command.description)) << "plain ASCII shows on every terminal and in man";
  EXPECT_EQ(find_command(all_commands(), command.name), &command) << "two commands of one name";
}

TEST_P(EveryCommand, HasFlagsThatDoNotClash) {
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const std::span<const Flag> flags : {GetParam()->flags, global_flags()}) {
    for (const Flag& flag : flags) {
      EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
      EXPECT_TRUE(flag.letter == 0 || letters.insert(flag.letter).second) << flag.letter;
    }
  }
}

TEST_P(EveryCommand, ExplainsEachFlag) {
  for (const Flag& flag : GetParam()->flags) {
    ASSERT_NE(flag.help, nullptr) << flag.name;
    EXPECT_NE(*flag.help, '\0') << flag.name;
    EXPECT_TRUE(is_plain(flag.help)) << flag.name;
    EXPECT_FALSE(std::string_view(flag.help).ends_with('.')) << flag.name;
    const bool valued = flag.value != nullptr;
    EXPECT_TRUE(valued || (flag.choices == nullptr && flag.fallback == nullptr)) << flag.name;
    EXPECT_TRUE(flag.completes == nullptr || is_completion_kind(flag.completes)) << flag.name;
  }
  for (const Positional& positional : GetParam()->positionals) {
    ASSERT_NE(positional.help, nullptr) << positional.name;
    EXPECT_TRUE(positional.completes == nullptr || is_completion_kind(positional.completes));
  }
}

TEST_P(EveryCommand, HasFlagsThatTheParserTakes) {
  const std::vector<std::string> words = {"--help"};
  const auto parsed = parse_arguments(*GetParam(), words);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_TRUE(parsed.value().has("help"));
}

TEST_P(EveryCommand, HelpFitsEightyColumns) {
  const std::string help = command_help(*GetParam(), false);
  for (size_t at = 0; at < help.size();) {
    const size_t end = std::min(help.find('\n', at), help.size());
    EXPECT_LE(end - at, 80U) << help.substr(at, end - at);
    at = end + 1;
  }
  for (const Flag& flag : GetParam()->flags) {
    EXPECT_NE(help.find("--" + std::string(flag.name)), std::string::npos);
  }
}

TEST(Overview, ListsEveryCommandThatIsNotHidden) {
  const std::string help = overview_help(all_commands(), false);
  for (const Command* command : all_commands()) {
    EXPECT_EQ(help.find(std::string("\n  ") + command->name + " ") != std::string::npos,
              !command->hidden);
  }
  EXPECT_EQ(help.find('\x1b'), std::string::npos);
  EXPECT_NE(overview_help(all_commands(), true).find('\x1b'), std::string::npos);
}

int exit_status(std::vector<const char*> words) {
  words.insert(words.begin(), "fathom");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = run_command_line(all_commands(), static_cast<int>(words.size()), words.data());
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
  return status;
}

TEST(CommandLine, ExitStatusTellsUsageFromFailure) {
  EXPECT_EQ(exit_status({}), 0);
  EXPECT_EQ(exit_status({"--help"}), 0);
  EXPECT_EQ(exit_status({"--version"}), 0);
  EXPECT_EQ(exit_status({"help", "pack"}), 0);
  EXPECT_EQ(exit_status({"pack", "--help"}), 0);
  EXPECT_EQ(exit_status({"help", "nothing"}), 2);
  EXPECT_EQ(exit_status({"nothing"}), 2);
  EXPECT_EQ(exit_status({"pack"}), 2);
  EXPECT_EQ(exit_status({"pack", "--wrong", "x"}), 2);
  EXPECT_EQ(exit_status({"completion", "tcsh"}), 2);
  EXPECT_EQ(exit_status({"pack", "/nothing/here.fathom"}), 1);
  EXPECT_EQ(exit_status({"report", "/"}), 1) << "no recording, but nothing is wrong with the words";
}

// As env(1) and docker(1): every other status is the program's.
TEST(CommandLine, ExitStatusOfRunIsTheProgramsOrOurs) {
  EXPECT_EQ(exit_status({"run", "--help"}), 0);
  EXPECT_EQ(exit_status({"run"}), 125);
  EXPECT_EQ(exit_status({"run", "--wrong", "--", "true"}), 125);
  EXPECT_EQ(exit_status({"--no-color", "run", "--freq", "x", "--", "true"}), 125);
  EXPECT_EQ(exit_status({"run", "--progress", "perhaps", "--", "true"}), 125);
  EXPECT_EQ(exit_status({"run", "-o"}), 125);
  EXPECT_EQ(exit_status({"--wrong", "run"}), 2) << "before the command it is nobody's";
}

}  // namespace
}  // namespace fathom
