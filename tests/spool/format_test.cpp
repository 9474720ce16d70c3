// SPDX-License-Identifier: Apache-2.0
// docs/formats/spool.md, to the byte.
#include <gtest/gtest.h>

#include <cstddef>

#include "wire/spool.h"

namespace fathom {
namespace {

TEST(SpoolFormat, IsWhatItsPageSays) {
  EXPECT_EQ(offsetof(SpoolHeader, flags), 24U);
  EXPECT_EQ(offsetof(SpoolHeader, family), 32U);
  EXPECT_EQ(offsetof(SpoolHeader, pid), 48U);
  EXPECT_EQ(offsetof(SpoolHeader, interval_ns), 64U);
  EXPECT_EQ(offsetof(SpoolHeader, ticks_at_load), 80U);
  EXPECT_EQ(offsetof(SpoolHeader, ticks_later), 96U);
  EXPECT_EQ(offsetof(SpoolHeader, ticks_per_ns_32), 112U);
  EXPECT_EQ(offsetof(SpoolHeader, call_count), 120U);
  EXPECT_EQ(offsetof(SpoolHeader, names_offset), 124U);
  EXPECT_EQ(offsetof(SpoolHeader, next_chunk), 128U);
  EXPECT_EQ(offsetof(SpoolHeader, areas), 132U);
  EXPECT_EQ(offsetof(SpoolHeader, names), 136U);
  EXPECT_EQ(offsetof(SpoolHeader, next_file), 140U);
  EXPECT_EQ(offsetof(SpoolHeader, lost), 144U);
  EXPECT_EQ(offsetof(SpoolHeader, ready), 208U);
  EXPECT_EQ(offsetof(SpoolHeader, program), 216U);
  EXPECT_EQ(offsetof(SpoolHeader, chunk_state), 728U);
  EXPECT_EQ(sizeof(SpoolChunk), 32U);
  EXPECT_EQ(offsetof(SpoolChunk, base_ticks), 16U);
  EXPECT_EQ(sizeof(SpoolArea), 32U);
  EXPECT_EQ(sizeof(SpoolName), 16U);
  EXPECT_EQ(sizeof(SpoolThreadRecord), 16U);
  EXPECT_EQ(sizeof(SpoolCallRecord), 48U);
  EXPECT_EQ(sizeof(SpoolShortCallRecord), 32U);
  EXPECT_EQ(sizeof(SpoolSmallCallRecord), 16U);
  EXPECT_EQ(offsetof(SpoolSmallCallRecord, start_ticks), 4U);
  EXPECT_EQ(sizeof(SpoolCellRecord), 216U);
}

}  // namespace
}  // namespace fathom
