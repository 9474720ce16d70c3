// SPDX-License-Identifier: Apache-2.0
#include "cli/parse.h"

#include <gtest/gtest.h>

#include "sample_commands.h"

namespace fathom {
namespace {

using Words = std::vector<std::string>;

Result<Arguments> parse(const Words& words) { return parse_command_line(kSampleCommands, words); }

std::string complaint(const Words& words) {
  const auto parsed = parse(words);
  if (parsed.ok()) return "parsed";
  EXPECT_EQ(parsed.error().code, Code::kInvalid);
  return parsed.error().message + " | " + parsed.error().hint;
}

TEST(Parse, TakesEverySpellingOfAFlag) {
  for (const Words& words :
       {Words{"run", "--interval", "5ms", "app"}, Words{"run", "--interval=5ms", "app"},
        Words{"run", "-i5ms", "app"}, Words{"run", "-i", "5ms", "app"},
        Words{"run", "-qi", "5ms", "app"}, Words{"run", "-qi5ms", "--", "app"}}) {
    const auto parsed = parse(words);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(parsed.value().duration("interval").value(), 5'000'000);
    EXPECT_EQ(parsed.value().program(), Words{"app"});
    EXPECT_TRUE(parsed.value().has("interval"));
  }
}

TEST(Parse, FallsBack) {
  const auto parsed = parse({"run", "app"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed.value().has("interval"));
  EXPECT_EQ(parsed.value().duration("interval").value(), 100'000'000);
  EXPECT_EQ(parsed.value().text("output"), "");
  EXPECT_TRUE(parsed.value().texts("env").empty());
}

TEST(Parse, LeavesTheProgramAlone) {
  const Words program = {"app", "--interval", "x", "--", "-q", "", "--help", "[a,b]"};
  for (Words words : {Words{"run", "-q"}, Words{"run", "-q", "--"}}) {
    words.insert(words.end(), program.begin(), program.end());
    const auto parsed = parse(words);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(parsed.value().program(), program);
    EXPECT_TRUE(parsed.value().has("quiet"));
    EXPECT_FALSE(parsed.value().has("help"));
  }
  EXPECT_EQ(parse({"run", "--", "--odd", "x"}).value().program(), (Words{"--odd", "x"}));
}

TEST(Parse, KeepsOddValuesAsTheyAre) {
  const auto parsed = parse(
      {"run", "--env", "[a,b]", "--env=", "--env", "-q", "--env", "a=b=c", "--env", "--", "app"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed.value().texts("env"), (Words{"[a,b]", "", "-q", "a=b=c", "--"}));
  EXPECT_FALSE(parsed.value().has("quiet"));
  EXPECT_EQ(parsed.value().program(), Words{"app"});
}

TEST(Parse, TheLastOfAFlagCountsUnlessItIsRepeatable) {
  const auto parsed = parse({"run", "-o", "a", "-o", "b", "-p", "io", "-p", "stacks,cuda", "app"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed.value().text("output"), "b");
  EXPECT_EQ(parsed.value().texts("output"), Words{"b"});
  EXPECT_EQ(parsed.value().list("probe"), (Words{"io", "stacks", "cuda"}));
}

TEST(Parse, GlobalFlagsStandBeforeOrBehindTheCommand) {
  EXPECT_TRUE(parse({"--verbose", "run", "app"}).value().has("verbose"));
  EXPECT_TRUE(parse({"run", "-v", "app"}).value().has("verbose"));
  EXPECT_FALSE(parse({"run", "app", "-v"}).value().has("verbose"));
  EXPECT_EQ(&parse({"--no-color"}).value().command(), &kNoCommand);
  EXPECT_TRUE(parse({"query", "--help"}).ok()) << "nothing else has to be there";
  EXPECT_TRUE(parse({"--help", "query"}).value().has("help"));
}

TEST(Parse, FlagsMayFollowPositionalsOfOtherCommands) {
  const auto parsed = parse({"query", "a", "-q", "b", "--", "-x"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().positionals(), (Words{"a", "b", "-x"}));
  EXPECT_EQ(parsed.value().positional(1), "b");
  EXPECT_EQ(parsed.value().positional(9), "");
  EXPECT_TRUE(parsed.value().has("quiet"));
}

TEST(Parse, SaysWhatWasMeant) {
  EXPECT_EQ(complaint({"rnu", "app"}),
            "unknown command 'rnu' | did you mean `fathom run`? see `fathom --help`");
  EXPECT_EQ(complaint({"./app"}),
            "unknown command './app' | did you mean `fathom run -- ./app`? see `fathom --help`");
  EXPECT_EQ(complaint({"run", "--intervall=3", "app"}),
            "unknown flag '--intervall' | did you mean --interval? see `fathom run --help`");
  EXPECT_EQ(complaint({"run", "-x", "app"}), "unknown flag '-x' | see `fathom run --help`");
  EXPECT_EQ(complaint({"--verbos", "run"}),
            "unknown flag '--verbos' | did you mean --verbose? see `fathom --help`");
  EXPECT_EQ(complaint({"run", "-p", "stack", "app"}),
            "--probe: 'stack' is not one of stacks, io, cuda | did you mean stacks? see `fathom "
            "run --help`");
}

TEST(Parse, SaysWhatIsMissingOrTooMuch) {
  EXPECT_EQ(complaint({"run", "--interval"}),
            "--interval needs a value: TIME | see `fathom run --help`");
  EXPECT_EQ(complaint({"run", "-qi"}), "--interval needs a value: TIME | see `fathom run --help`");
  EXPECT_EQ(complaint({"run", "--quiet=yes"}), "--quiet takes no value | see `fathom run --help`");
  EXPECT_EQ(complaint({"query", "a"}), "SQL is missing | see `fathom query --help`");
  EXPECT_EQ(complaint({"run", "-qx", "app"}).substr(0, 12), "unknown flag");
  const auto wrong = parse({"run", "-i", "soon", "app"}).value().duration("interval");
  EXPECT_EQ(wrong.error().message, "--interval: 'soon' is not a time");
}

TEST(Parse, ShowsHostileWordsHarmlessly) {
  EXPECT_EQ(complaint({"\x1b[2J"}).find('\x1b'), std::string::npos);
  EXPECT_EQ(complaint({"run", "--\x1b[2J"}).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace fathom
