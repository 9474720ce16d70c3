// SPDX-License-Identifier: Apache-2.0
#include "base/perf_event_name.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(PerfEventName, SoftwareEventsAndTheirUnits) {
  const auto clock = find_perf_event("cpu-clock");
  ASSERT_TRUE(clock.ok());
  EXPECT_EQ(clock.value().attr.type, PERF_TYPE_SOFTWARE);
  EXPECT_EQ(clock.value().attr.config, PERF_COUNT_SW_CPU_CLOCK);
  EXPECT_STREQ(clock.value().unit, "ns");
  const auto faults = find_perf_event("page-faults");
  ASSERT_TRUE(faults.ok());
  EXPECT_EQ(faults.value().attr.config, PERF_COUNT_SW_PAGE_FAULTS);
  EXPECT_STREQ(faults.value().unit, "count");
}

TEST(PerfEventName, ModifiersSayWhoseTime) {
  EXPECT_EQ(find_perf_event("cpu-clock:u").value().attr.exclude_kernel, 1U);
  EXPECT_EQ(find_perf_event("cpu-clock:u").value().attr.exclude_user, 0U);
  EXPECT_EQ(find_perf_event("cpu-clock:k").value().attr.exclude_user, 1U);
  EXPECT_EQ(find_perf_event("cpu-clock").value().attr.exclude_kernel, 0U);
}

TEST(PerfEventName, ANameNobodyKnowsIsRefused) {
  for (const char* name : {"nonsense", "", ":u", "cpu-clock:x", ":::", "a\nb"}) {
    const auto found = find_perf_event(name);
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_EQ(found.error().code, Code::kInvalid);
    EXPECT_FALSE(found.error().hint.empty());
  }
}

TEST(PerfEventName, ANearNameIsSuggested) {
  EXPECT_EQ(find_perf_event("cpu-clok").error().hint, "did you mean cpu-clock?");
  EXPECT_EQ(find_perf_event("cycle").error().hint, "did you mean cycles?");
}

TEST(PerfEventName, HardwareEventsAreKnownEvenWithoutAPmu) {
  const auto cycles = find_perf_event("cycles");
  ASSERT_TRUE(cycles.ok()) << cycles.error().message;
  EXPECT_STREQ(cycles.value().unit, "count");
}

}  // namespace
}  // namespace fathom
