// SPDX-License-Identifier: Apache-2.0
#include "report/simulated_top.h"

#include <gtest/gtest.h>

#include "report/made_samples.h"

namespace fathom {
namespace {

void add_sum(MadeSamples& made, std::string_view symbol, std::string_view event, int64_t sum) {
  RecordStream& out = made.out();
  out.add(NodeSum{out.string(symbol), out.string("/bin/app"), out.string("app"), out.string(event),
                  out.string("count"), sum});
}

Recording simulated(MadeSamples& made) {
  for (const auto& [symbol, self, total] :
       {std::tuple("main", 100, 1000), std::tuple("hot", 700, 900), std::tuple("leaf", 200, 200)}) {
    add_sum(made, symbol, "instructions:simulated", self);
    add_sum(made, symbol, "instructions:simulated+callees", total);
  }
  for (const std::string& name : hostile_names()) add_sum(made, name, "branches:simulated", 1);
  return made.finish();
}

Error refused(const Recording& recording, const char* format, const ReportOptions& options) {
  const auto written = find_report(format).value()->write(recording, options);
  return written.ok() ? Error{Code::kInternal, "it was not refused"} : written.error();
}

TEST(SimulatedTop, HasExactSharesAloneAndWithCallees) {
  MadeSamples made;
  ReportOptions options;
  options.filter.event = "instructions:simulated";
  const std::string text = report_text(simulated(made), "top", options);
  EXPECT_NE(text.find("1,000 instructions:simulated in all"), std::string::npos) << text;
  EXPECT_NE(text.find("Simulated by Valgrind"), std::string::npos) << text;
  EXPECT_NE(text.find("70.00 %        700   90.00 %        900  hot"), std::string::npos) << text;
  EXPECT_LT(text.find("  hot"), text.find("  leaf")) << text;
  EXPECT_LT(text.find("  leaf"), text.find("  main")) << text;
  EXPECT_EQ(text.find("95 %"), std::string::npos) << "counted, not sampled: " << text;
}

TEST(SimulatedTop, NoLineIsTooWideAndNoEscapeGetsThrough) {
  MadeSamples made;
  const Recording recording = simulated(made);
  for (const size_t columns : {60U, 80U, 120U}) {
    ReportOptions options;
    options.columns = columns;
    options.filter.event = "branches:simulated";
    const std::string text = report_text(recording, "top", options);
    for (const std::string_view line : split_words(text, '\n'))
      EXPECT_LE(display_width(line), columns) << line;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  }
}

TEST(SimulatedTop, WhatIsNotThereIsNamed) {
  MadeSamples made;
  const Recording recording = simulated(made);
  ReportOptions options;
  options.filter.event = "cycles:simulated";
  EXPECT_EQ(refused(recording, "top", options).hint,
            "there are: branches:simulated, instructions:simulated");
  options.filter.event = "instructions:simulated";
  options.filter.thread = "main";
  EXPECT_EQ(refused(recording, "top", options).hint, "leave out --thread");
}

TEST(SimulatedTop, WhatNeedsStacksSaysWhyThereAreNone) {
  MadeSamples made;
  const Recording recording = simulated(made);
  ReportOptions options;
  options.filter.event = "instructions:simulated";
  for (const char* format : {"flamegraph", "flamegraph-html", "tree", "folded"}) {
    const Error error = refused(recording, format, options);
    EXPECT_EQ(error.code, Code::kInvalid);
    EXPECT_NE(error.message.find("have no stacks"), std::string::npos) << error.message;
    EXPECT_NE(error.hint.find("--as top --event instructions:simulated"), std::string::npos);
  }
}

}  // namespace
}  // namespace fathom
