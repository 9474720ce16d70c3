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

// The events of a profiling hub that existed before this one, whose recipes are still in use.
TEST(PerfEventName, AllThatOldRecipesNameAreKnownInEitherMode) {
  for (const std::string name :
       {"branch-misses", "cache-misses", "cpu-cycles", "instructions", "cpu-clock",
        "L1-dcache-load-misses", "L1-dcache-loads", "L1-dcache-prefetch-misses",
        "L1-dcache-prefetches", "L1-dcache-store-misses", "L1-dcache-stores",
        "L1-icache-load-misses", "L1-icache-loads", "iTLB-load-misses", "iTLB-loads", "cycles",
        "L1-icache-misses"}) {
    EXPECT_TRUE(find_perf_event(name).ok()) << name;
    const auto user = find_perf_event(name + ":u");
    ASSERT_TRUE(user.ok()) << name;
    EXPECT_EQ(user.value().attr.exclude_kernel, 1U) << name;
    EXPECT_EQ(user.value().attr.exclude_user, 0U) << name;
    const auto kernel = find_perf_event(name + ":k");
    ASSERT_TRUE(kernel.ok()) << name;
    EXPECT_EQ(kernel.value().attr.exclude_user, 1U) << name;
  }
}

TEST(PerfEventName, AnAliasIsTheEventItMeans) {
  const auto same = [](const char* left, const char* right) {
    const perf_event_attr a = find_perf_event(left).value().attr;
    const perf_event_attr b = find_perf_event(right).value().attr;
    return a.type == b.type && a.config == b.config;
  };
  EXPECT_TRUE(same("cycles", "cpu-cycles"));
  EXPECT_TRUE(same("L1-icache-misses", "L1-icache-load-misses"));
  EXPECT_TRUE(same("cs", "context-switches"));
  EXPECT_EQ(find_perf_event("L1-icache-mises").error().hint, "did you mean L1-icache-misses?");
}

}  // namespace
}  // namespace fathom
