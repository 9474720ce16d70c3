// SPDX-License-Identifier: Apache-2.0
#include "report/sizing_memory.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr double kMB = 1e6;

MemoryReading reading(int64_t time_ns, double usage, double cache = 0) {
  MemoryReading at;
  at.time_ns = time_ns;
  at.usage = usage * kMB;
  at.working_set = (usage - cache) * kMB;
  at.anonymous = (usage - cache) * kMB;
  return at;
}

// Where the kernel's peak cannot be reset, it tells of an interval only by rising.
std::vector<MemoryReading> with_peaks(std::vector<MemoryReading> readings,
                                      const std::vector<double>& peaks) {
  for (size_t i = 0; i < readings.size(); ++i) readings[i].peak = peaks[i] * kMB;
  return readings;
}

const std::vector<ProcessPeak> kUnknownProcesses;

TEST(MemoryNeed, IsUnknownWithoutReadings) {
  const MemoryNeed need = memory_need({}, kUnknownProcesses);
  EXPECT_EQ(need.source, MemorySource::kNone);
  EXPECT_FALSE(need.needed);
}

TEST(MemoryNeed, CountsASpikeBetweenReadingsAsNeeded) {
  const MemoryNeed need =
      memory_need(with_peaks({reading(0, 5), reading(10, 5), reading(20, 5)}, {5, 111, 111}),
                  kUnknownProcesses);
  EXPECT_EQ(need.source, MemorySource::kKernelPeak);
  EXPECT_DOUBLE_EQ(*need.needed, 111 * kMB);
  EXPECT_DOUBLE_EQ(need.between_readings, 106 * kMB);
  EXPECT_DOUBLE_EQ(need.floor, 111 * kMB);
}

TEST(MemoryNeed, CountsAPeakThatIsPageCacheAsPageCache) {
  const MemoryNeed need = memory_need(
      with_peaks({reading(0, 5), reading(10, 405, 400), reading(20, 405, 400)}, {5, 405, 405}),
      kUnknownProcesses);
  EXPECT_DOUBLE_EQ(*need.needed, 5 * kMB);
  EXPECT_DOUBLE_EQ(need.floor, 5 * kMB);
}

TEST(MemoryNeed, SeesASpikeOnTopOfPageCache) {
  const MemoryNeed need = memory_need(
      with_peaks({reading(0, 405, 400), reading(10, 405, 400)}, {405, 511}), kUnknownProcesses);
  EXPECT_DOUBLE_EQ(*need.needed, 111 * kMB);
}

// Cache fills the limit of 128 MB; 106 MB of it give way to the program and do not return.
TEST(MemoryNeed, SeesASpikeThatDisplacedPageCacheAtTheLimit) {
  std::vector<MemoryReading> readings = {reading(0, 128, 123), reading(10, 22, 17)};
  readings[0].limit_hits = 4;
  readings[1].limit_hits = 9;
  for (MemoryReading& at : readings) at.interval_peak = 128 * kMB;
  EXPECT_DOUBLE_EQ(*memory_need(readings, kUnknownProcesses).needed, 111 * kMB);
  readings[1].limit_hits = 4;  // a file was removed
  EXPECT_DOUBLE_EQ(*memory_need(readings, kUnknownProcesses).needed, 5 * kMB);
}

// 20 MB of anonymous memory are there when the kernel has taken as much page cache: not 40.
TEST(MemoryNeed, CountsMemoryThatDisplacedPageCacheOnce) {
  std::vector<MemoryReading> readings = {reading(0, 96, 95), reading(10, 96, 75)};
  for (MemoryReading& at : readings) {
    at.interval_peak = 96 * kMB;
    at.at_limit = 1;
  }
  const MemoryNeed need = memory_need(readings, kUnknownProcesses);
  EXPECT_DOUBLE_EQ(*need.needed, 21 * kMB);
  EXPECT_EQ(need.readings_at_limit, 2U);
  readings[1] = reading(10, 76, 75);  // given back before the reading
  readings[1].interval_peak = 96 * kMB;
  EXPECT_DOUBLE_EQ(*memory_need(readings, kUnknownProcesses).needed, 21 * kMB);
}

// A temporary file of 47 MB came and went between two readings: no process can have had it. As a
// limit less is not safe, for the page cache was not seen.
TEST(MemoryNeed, IsNoMoreThanTheProcessesOfTheTimeEverHad) {
  const auto readings = with_peaks({reading(0, 129), reading(10, 129)}, {129, 178});
  const MemoryNeed need = memory_need(readings, {{0, 20, 131 * kMB}});
  EXPECT_DOUBLE_EQ(*need.needed, 131 * kMB);
  EXPECT_DOUBLE_EQ(need.floor, 178 * kMB);
  EXPECT_DOUBLE_EQ(*memory_need(readings, {{0, 20, 131 * kMB}, {5, 6, {}}}).needed, 178 * kMB);
  EXPECT_DOUBLE_EQ(*memory_need(readings, {{0, 20, 131 * kMB}, {11, 20, {}}}).needed, 131 * kMB);
}

// Attached late: 300 MB were needed, or cached, before.
TEST(MemoryNeed, SaysThatOnlyReadingsExistWhereThePeakIsOlder) {
  std::vector<MemoryReading> readings = {reading(0, 50, 10), reading(10, 60, 10)};
  for (MemoryReading& at : readings) at.lifetime_peak = 300 * kMB;
  const MemoryNeed need = memory_need(readings, kUnknownProcesses);
  EXPECT_EQ(need.source, MemorySource::kReadings);
  EXPECT_FALSE(need.peak);
  EXPECT_DOUBLE_EQ(*need.needed, 50 * kMB);
  EXPECT_DOUBLE_EQ(need.floor, 290 * kMB);
}

TEST(MemoryNeed, IncludesWhatIsInSwap) {
  std::vector<MemoryReading> readings = {reading(0, 50), reading(10, 60)};
  readings[1].swap = 30 * kMB;
  EXPECT_DOUBLE_EQ(*memory_need(readings, kUnknownProcesses).needed, 90 * kMB);
}

}  // namespace
}  // namespace fathom
