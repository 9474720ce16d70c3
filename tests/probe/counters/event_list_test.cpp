// SPDX-License-Identifier: Apache-2.0
#include "probe/counters/event_list.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "probe/counters/counter_set.h"
#include "probe/counters/refusal.h"

namespace fathom {
namespace {

std::vector<std::pair<std::string, int>> names(std::string_view list) {
  std::vector<std::pair<std::string, int>> found;
  const auto events = parse_events(list);
  EXPECT_TRUE(events.ok()) << list;
  if (!events.ok()) return found;
  for (const EventRequest& event : events.value()) found.emplace_back(event.name, event.group);
  return found;
}

TEST(EventList, CommasSeparateAndBracesGroup) {
  using Names = std::vector<std::pair<std::string, int>>;
  EXPECT_EQ(names("page-faults"), (Names{{"page-faults", -1}}));
  EXPECT_EQ(names("page-faults,{cycles,instructions:u},cs"),
            (Names{{"page-faults", -1}, {"cycles", 0}, {"instructions:u", 0}, {"cs", -1}}));
  EXPECT_EQ(names("{cycles},{branches,branch-misses}"),
            (Names{{"cycles", 0}, {"branches", 1}, {"branch-misses", 1}}));
  EXPECT_EQ(names(" cs, page-faults,,"), (Names{{"cs", -1}, {"page-faults", -1}}));
}

TEST(EventList, AnEventIsCountedOnce) {
  EXPECT_EQ(names("cs,cs,{cs}").size(), 1U);
  EXPECT_EQ(names("cycles,cycles:u").size(), 2U);
}

TEST(EventList, TheUsualOnesAreAllKnown) { EXPECT_EQ(names(kUsualEvents).size(), 10U); }

TEST(EventList, WhatMakesNoSenseIsRefused) {
  for (const char* list : {"", ",", "{", "}", "{cs", "cs}", "{{cs}}", "{}", "nonsense", "cs,:::"}) {
    const auto events = parse_events(list);
    ASSERT_FALSE(events.ok()) << list;
    EXPECT_EQ(events.error().code, Code::kInvalid) << list;
    EXPECT_FALSE(events.error().hint.empty()) << list;
  }
  EXPECT_EQ(parse_events("cs,page-fault").error().hint, "did you mean page-faults?");
}

TEST(EventList, WhatWouldAlwaysBeZeroIsSaidToBeSo) {
  EXPECT_NE(senseless(find_perf_event("context-switches:u").value()), "");
  EXPECT_NE(senseless(find_perf_event("task-clock:u").value()), "");
  EXPECT_EQ(senseless(find_perf_event("context-switches").value()), "");
  EXPECT_EQ(senseless(find_perf_event("page-faults:u").value()), "");
}

TEST(EventReading, IsScaledToTheWholeTime) {
  EXPECT_EQ((EventReading{100, 1000, 1000}.scaled()), 100);
  EXPECT_EQ((EventReading{100, 1000, 250}.scaled()), 400);
  EXPECT_EQ((EventReading{0, 0, 0}.scaled()), 0);
  EXPECT_EQ((EventReading{7, 10, 20}.scaled()), 7);  // clocks of two CPUs differ a little
  EXPECT_DOUBLE_EQ((EventReading{100, 1000, 250}.share()), 0.25);
  EXPECT_DOUBLE_EQ((EventReading{0, 0, 0}.share()), 1);
}

TEST(CounterSet, CountsWhatItCanAndSaysWhyNotTheRest) {
  const auto requests = parse_events("page-faults,context-switches:u,{cycles,instructions}");
  ASSERT_TRUE(requests.ok());
  const CounterSet set =
      CounterSet::open(requests.value(), SampledScope::of_thread(gettid()), CounterSetOptions{});
  ASSERT_EQ(set.events().size(), 4U);
  for (const CounterEvent& event : set.events()) {
    if (event.fds.empty()) {
      EXPECT_FALSE(event.why.empty()) << event.name;
    }
  }
  EXPECT_TRUE(set.events()[1].fds.empty());
  if (!has_pmu()) {
    EXPECT_NE(set.events()[2].why.find("PMU"), std::string::npos) << set.events()[2].why;
  }
}

}  // namespace
}  // namespace fathom
