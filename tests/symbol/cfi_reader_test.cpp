// SPDX-License-Identifier: Apache-2.0
#include "symbol/cfi_reader.h"

#include <gtest/gtest.h>

#include "symbol/cfi_bytes.h"

namespace fathom {
namespace {

TEST(CfiReader, ReadsEntries) {
  CfiWriter writer;
  const size_t cie = writer.usual_cie();
  writer.fde(cie, 0x1000, 0x20, {0x44, 0x0e, 16});
  writer.fde(cie, 0x2000, 0x10, {});
  CfiReader reader(writer.section());
  const auto first = reader.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->start, 0x1000U);
  EXPECT_EQ(first->end, 0x1020U);
  EXPECT_EQ(first->program.size(), 3U);
  EXPECT_EQ(reader.cie(first->cie).data_factor, -8);
  const auto second = reader.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->start, 0x2000U);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.bad_entries(), 0U);
}

TEST(CfiReader, ReadsAugmentations) {
  CfiWriter writer;
  // zPLRS: personality (pcrel sdata4), LSDA encoding, FDE encoding (pcrel sdata4), signal frame.
  const size_t cie = writer.cie("zPLRS", {0x9b, 1, 2, 3, 4, 0x1b, 0x1b}, {0x0c, 7, 8, 0x90, 1});
  Bytes body;
  put(body, writer.bytes().size() + 4 - cie, 4);
  const uint64_t field = writer.bytes().size() + 8;
  put(body, 0x5000 - (0x9000 + field), 4);
  put(body, 0x40, 4);
  put(body, {4, 0, 0, 0, 0});  // augmentation data: an LSDA pointer
  put(body, {0x41});
  writer.entry(body);
  CfiReader reader(writer.section(0x9000));
  const auto fde = reader.next();
  ASSERT_TRUE(fde);
  EXPECT_EQ(fde->start, 0x5000U);
  EXPECT_EQ(fde->end, 0x5040U);
  EXPECT_EQ(fde->program.size(), 1U);
  EXPECT_TRUE(reader.cie(fde->cie).is_signal);
}

TEST(CfiReader, ReadsDebugFrame) {
  CfiWriter writer(true);
  writer.entry({0xff, 0xff, 0xff, 0xff, 9});  // a version nobody knows
  const size_t cie = writer.usual_cie();
  writer.fde(cie, 0x1000, 0x20, {});
  CfiReader reader(writer.section());
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.bad_entries(), 1U);
}

TEST(CfiReader, ReadsEntriesOf64Bits) {
  CfiWriter writer(true);
  Bytes cie;
  put(cie, ~uint64_t{0}, 8);
  put(cie, {4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8});  // version 4: address size, segment size
  put(writer.bytes(), 0xffffffff, 4);
  put(writer.bytes(), cie.size(), 8);
  put(writer.bytes(), cie);
  put(writer.bytes(), 0xffffffff, 4);
  put(writer.bytes(), 24, 8);
  put(writer.bytes(), 0, 8);
  put(writer.bytes(), 0x1000, 8);
  put(writer.bytes(), 0x30, 8);
  CfiReader reader(writer.section());
  const auto fde = reader.next();
  ASSERT_TRUE(fde);
  EXPECT_EQ(fde->end, 0x1030U);
}

TEST(CfiReader, GoesOnAfterBadEntries) {
  CfiWriter writer;
  const size_t cie = writer.usual_cie();
  const size_t odd = writer.cie("x", {}, {});  // an augmentation without a size
  writer.fde(odd, 0x1000, 0x20, {});
  writer.fde(cie + 1, 0x1000, 0x20, {});        // no CIE there
  writer.fde(cie, 0x1000, 0, {});               // empty
  writer.fde(cie, ~uint64_t{0} - 4, 0x20, {});  // past the end of memory
  writer.entry({1, 2});                         // too short for an id
  put(writer.bytes(), 0, 4);                    // a terminator in the middle
  writer.fde(cie, 0x3000, 0x20, {});
  CfiReader reader(writer.section());
  const auto fde = reader.next();
  ASSERT_TRUE(fde);
  EXPECT_EQ(fde->start, 0x3000U);
  EXPECT_EQ(reader.bad_entries(), 6U);
}

TEST(CfiReader, StopsAtZeroWhereTheSizeIsAGuess) {
  CfiWriter writer;
  const size_t cie = writer.usual_cie();
  put(writer.bytes(), 0, 4);
  writer.fde(cie, 0x3000, 0x20, {});
  CfiSection section = writer.section();
  section.ends_at_zero = true;
  EXPECT_FALSE(CfiReader(section).next());
}

TEST(CfiReader, PointerEncodings) {
  const Bytes bytes = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  const auto read = [&](uint8_t encoding) {
    CfiCursor in(bytes);
    return read_encoded_pointer(in, encoding, 0x1000);
  };
  EXPECT_EQ(read(0x00), ~uint64_t{0} - 1);
  EXPECT_EQ(read(0x02), 0xfffeU);
  EXPECT_EQ(read(0x03), 0xfffffffeU);
  EXPECT_EQ(read(0x0a), ~uint64_t{0} - 1);
  EXPECT_EQ(read(0x1b), 0xffeU);
  EXPECT_EQ(read(0x09), std::nullopt);  // a LEB128 that does not end
  EXPECT_EQ(read(0x9b), std::nullopt);  // indirect
  EXPECT_EQ(read(0x3b), std::nullopt);  // relative to data
  EXPECT_EQ(read(0x0f), std::nullopt);
  EXPECT_EQ(read(0xff), std::nullopt);
  EXPECT_EQ(read(0x50), ~uint64_t{0} - 1);
}

}  // namespace
}  // namespace fathom
