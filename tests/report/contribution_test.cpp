// SPDX-License-Identifier: Apache-2.0
#include "report/contribution.h"

#include <gtest/gtest.h>

#include "base/fd.h"
#include "report/report.h"
#include "support/report_text.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

TEST(Contribution, CleansAsTheToolDoes) {
  EXPECT_EQ(clean_trace("java;thread;a;b"), "a;b");
  EXPECT_EQ(clean_trace("java;thread;a;[libc.so];x;[k];b"), "a;b");
  EXPECT_EQ(clean_trace("java;t;Interpreter;a1;b22"), "a;b");
  EXPECT_EQ(clean_trace("java;t;a.1.b;c..2.d"), "a.b;c..d") << "digits go first, then .. is .";
  EXPECT_EQ(clean_trace("java;t;;;a;12;b"), "a;b");
  EXPECT_EQ(clean_trace("java;t"), "t") << "${line#*;} of what has no ; is the line";
  EXPECT_EQ(clean_trace("java"), "java");
  EXPECT_EQ(clean_trace("java;t;[k]"), "");
  EXPECT_EQ(clean_trace("java;t;]a["), "]a[");
}

std::vector<Traces> three() {
  std::vector<Traces> all(3);
  for (const auto& [which, stack, samples] :
       {std::tuple(0, "p;t;a", 10), std::tuple(0, "p;t;a", 5), std::tuple(0, "p;t;b", 1),
        std::tuple(0, "p;t;c", 2), std::tuple(1, "p;t;a", 20), std::tuple(1, "p;t;b", 1),
        std::tuple(1, "p;t;d", 4), std::tuple(2, "p;t;a", 3), std::tuple(2, "p;t;e", 7)})
    all[static_cast<size_t>(which)].add(stack, {samples, samples});
  return all;
}

// The tool compares every line of a file, also of one or two frames, and those without a count.
TEST(Contribution, LinesOfFewFramesKeepTheirLast) {
  Traces traces;
  for (const char* line : {"java 5", "java;t 1", "java;Thread-7 2", "java;t;a 3", "  p;q;a b 4",
                           "p;q;operator new", "12 3", ""})
    traces.add_line(line);
  const std::map<std::string, int64_t, std::less<>> expected = {
      {"java", 1}, {"t", 1}, {"Thread-", 1}, {"a", 1}, {"a b", 1}, {"operator", 1}, {"", 2}};
  EXPECT_EQ(traces.lines, expected);
}

TEST(Contribution, CompatibleDropsWhatOccursTwice) {
  const auto shares = compatible_shares(three());
  // Once each: b c | a b d | a e; of these together only c, d and e occur once.
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_EQ(shares[0].mine, 2);
  EXPECT_EQ(shares[1].mine, 3);
  EXPECT_EQ(shares[2].mine, 2);
  for (const CompatibleShare& share : shares) EXPECT_EQ(share.all, 3);
  EXPECT_EQ(shares[0].percent(), 66) << "truncated";
}

TEST(Contribution, CorrectCountsDistinctExclusiveAndCommon) {
  const Contributions found = contributions(three());
  EXPECT_EQ(found.distinct, 5);
  EXPECT_EQ(found.common, 1);
  EXPECT_EQ(found.samples.weight, 53);
  EXPECT_EQ(found.each[0].distinct, 3);
  EXPECT_EQ(found.each[0].exclusive, 1);
  EXPECT_EQ(found.each[0].common, 1);
  EXPECT_EQ(found.each[0].samples.weight, 18);
  EXPECT_EQ(found.each[0].exclusive_samples.weight, 2);
  EXPECT_EQ(found.each[0].covered_samples.weight, 38 + 2 + 2);
  EXPECT_EQ(found.each[2].exclusive_samples.weight, 7);
}

std::string report_of(const char* format) {
  const TempFolder folder;
  EXPECT_TRUE(write_file(folder / "a", "p;t;a 10\np;t;b 1\n").ok());
  EXPECT_TRUE(write_file(folder / "b", "p;t;a 20\np;t;d 4\n").ok());
  const std::vector<ProfileSource> sources = {{.path = folder / "a", .label = "one, \"1\""},
                                              {.path = folder / "b", .label = "two"}};
  return report_text(format, sources, kAnyWidth);
}

// Wilson's intervals of 11, 1, 31 and 24, 4, 34 of 35, worked out elsewhere.
TEST(Contribution, SharesOfSamplesHaveIntervals) {
  const std::string text = report_of("contribution");
  for (const char* share :
       {"31.4 % (18.6 to 48.0)", "2.9 % (0.5 to 14.5)", "88.6 % (74.0 to 95.5)",
        "68.6 % (52.0 to 81.4)", "11.4 % (4.5 to 26.0)", "97.1 % (85.5 to 99.5)"})
    EXPECT_NE(text.find(share), std::string::npos) << share << " in " << text;
  const std::string csv = report_of("contribution-csv");
  const std::string rows = csv.substr(csv.find('\n') + 1);
  EXPECT_EQ(
      rows,
      "\"one, \"\"1\"\"\",2,0.666667,1,0.333333,1,11,0.314286,0.185508,0.479798,1,0.028571,"
      "0.005061,0.145331,31,0.885714,0.740485,0.954648,0\n"
      "two,2,0.666667,1,0.333333,1,24,0.685714,0.520202,0.814492,4,0.114286,0.045352,0.259515,"
      "34,0.971429,0.854669,0.994939,0\n");
  const std::string json = report_of("contribution-json");
  EXPECT_NE(json.find(R"("name":"one, \"1\"")"), std::string::npos) << json;
  EXPECT_NE(
      json.find(
          R"("own":{"samples":24,"weight":24,"share":0.685714,"low":0.520202,"high":0.814492})"),
      std::string::npos)
      << json;
}

TEST(Contribution, SamplesOfWhichCleaningLeavesNothingAreCountedApart) {
  std::vector<Traces> all(2);
  all[0].add("p;t;[unknown]", {3, 3});
  all[0].add("p;t;a", {4, 4});
  all[1].add("p;t;[k]", {2, 2});
  EXPECT_EQ(compatible_shares(all)[0].mine, 2) << "the tool keeps the empty line";
  const Contributions found = contributions(all);
  EXPECT_EQ(found.distinct, 1);
  EXPECT_EQ(found.samples.samples, 4);
  EXPECT_EQ(found.emptied.samples, 5);
  EXPECT_EQ(found.each[0].emptied.samples, 3);
}

TEST(Contribution, NothingIsOfNothing) {
  std::vector<Traces> all(2);
  all[0].add("p;t;[k]", {3, 3});
  all[0].add("p;t;[u]", {3, 3});
  EXPECT_EQ(compatible_shares(all)[1].percent(), 0);
  EXPECT_EQ(contributions(all).distinct, 0) << "what is cleaned away is no stack";
}

}  // namespace
}  // namespace fathom
