// SPDX-License-Identifier: Apache-2.0
// Frames that are damaged, hostile or from another version.
#include <protozero/pbf_writer.hpp>

#include "base/crc32c.h"
#include "record/frame.h"
#include "record/frame_layout.h"
#include "record/frame_packer.h"
#include "record/random_rows.h"

namespace fathom {
namespace {

using protozero::pbf_writer;

std::string small_frame() {
  RandomRows random(11);
  random.add_to_every_table(2);
  FrameEncoder encoder;
  return encoder.encode(random.names.dictionary(), random.rows).value();
}

// A frame with the right header around `payload`.
std::string framed(std::string_view payload) {
  return FramePacker().pack(payload, {}, kAllTables, 0).value();
}

void expect_corrupt(std::string_view frame, std::string_view what) {
  const auto batch = decode_frame(frame);
  ASSERT_FALSE(batch.ok()) << what;
  EXPECT_EQ(batch.error().code, Code::kCorrupt) << what;
}

TEST(FrameDamageTest, CutAtEveryByteIsCorrupt) {
  const std::string frame = small_frame();
  for (size_t size = 0; size < frame.size(); ++size) {
    // A copy of its own, so that a read past the end is seen.
    expect_corrupt(std::string(frame, 0, size), "cut at " + std::to_string(size));
  }
  expect_corrupt(frame + "x", "a byte more");
}

// Nothing of the batch whose memory is used again is seen, whichever of the two is the larger.
TEST(FrameDamageTest, SpareBatchLeavesNoTrace) {
  RandomRows random(13);
  random.add_to_every_table(50);
  const std::string large = FrameEncoder().encode(random.names.dictionary(), random.rows).value();
  const std::string small = small_frame(), empty = framed("");
  const auto text = [](const Batch& batch) { return exact_lines(batch.dictionary, batch.rows); };
  for (const std::string& first : {large, small, empty}) {
    for (const std::string& then : {large, small, empty}) {
      const Batch plain = decode_frame(then).value();
      const Batch again = decode_frame(then, kAllTables, decode_frame(first).value()).value();
      EXPECT_EQ(text(again), text(plain));
      EXPECT_EQ(again.dictionary.strings.size(), plain.dictionary.strings.size());
      EXPECT_EQ(again.dictionary.stacks, plain.dictionary.stacks);
      EXPECT_EQ(again.dictionary.details.size(), plain.dictionary.details.size());
    }
  }
}

TEST(FrameDamageTest, EveryBitFlipIsSeen) {
  std::string frame = small_frame();
  for (size_t bit = 0; bit < frame.size() * 8; ++bit) {
    const char before = frame[bit / 8];
    frame[bit / 8] = static_cast<char>(before ^ (1 << (bit % 8)));
    expect_corrupt(frame, "bit " + std::to_string(bit));
    frame[bit / 8] = before;
  }
  EXPECT_TRUE(decode_frame(frame).ok());
}

// The same below the checksum: payloads that were damaged before it was made.
TEST(FrameDamageTest, FlipsUnderTheChecksumNeverCrash) {
  RandomRows random(12);
  random.add_to_every_table(2);
  const std::string frame = FrameEncoder().encode(random.names.dictionary(), random.rows).value();
  const std::vector<char> raw = decode_frame(frame).value().bytes;
  std::string payload(raw.begin(), raw.end());
  size_t read = 0;
  const size_t step = std::max<size_t>(1, payload.size() * 8 / 20'000);
  for (size_t bit = 0; bit < payload.size() * 8; bit += step) {
    const char before = payload[bit / 8];
    payload[bit / 8] = static_cast<char>(before ^ (1 << (bit % 8)));
    const auto batch = decode_frame(framed(payload));
    payload[bit / 8] = before;
    if (!batch.ok()) {
      ASSERT_EQ(batch.error().code, Code::kCorrupt);
      continue;
    }
    ++read;
    (void)exact_lines(batch.value().dictionary, batch.value().rows);
  }
  EXPECT_GT(read, 0U);
}

TEST(FrameDamageTest, SizesThatCannotBeAreRefusedBeforeMemoryIsTaken) {
  std::string frame = small_frame();
  frame.replace(8, 4, std::string("\xff\xff\xff\xff", 4));
  const auto header = parse_frame_header(frame);
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.error().code, Code::kCorrupt);
}

TEST(FrameDamageTest, RawBytesMustBeRight) {
  std::string frame = small_frame();
  for (const int change : {-1, 1}) {
    std::string other = frame;
    other[8] = static_cast<char>(other[8] + change);
    const uint32_t crc =
        crc32c(std::string_view(other).substr(24), crc32c(std::string_view(other).substr(0, 20)));
    for (size_t i = 0; i < 4; ++i) other[20 + i] = static_cast<char>(crc >> (8 * i));
    expect_corrupt(other, "raw bytes off by one");
  }
}

// What a later version may add: tables, columns, parts of the dictionary, in every wire type.
TEST(FrameDamageTest, UnknownFieldsAreSkipped) {
  std::string names;
  pbf_writer dictionary(names);
  dictionary.add_string(frame_layout::kStrings, "known");
  dictionary.add_string(40, "a new list");
  dictionary.add_fixed64(41, 7);
  std::string table;
  pbf_writer marks(table);
  marks.add_uint32(frame_layout::kRowCount, 2);
  marks.add_bytes(2, "\x0a\x02");
  marks.add_bytes(3, std::string("\x01\x00", 2));
  marks.add_bytes(4, "\x01\x01");    // a column after the last
  marks.add_bytes(300, "\x01\x01");  // and one far beyond
  marks.add_double(301, 2.5);
  std::string payload;
  pbf_writer out(payload);
  out.add_message(frame_layout::kDictionary, names);
  out.add_message(frame_layout::table_field<Mark>(), table);
  out.add_message(frame_layout::table_field<Step>() + 1, std::string("any new table \xff\xff"));
  out.add_uint64(900, 1);
  out.add_fixed32(901, 1);
  const auto batch = decode_frame(framed(payload));
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  const auto& read = batch.value().rows.of<Mark>();
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].time_ns, 5);
  EXPECT_EQ(read[1].time_ns, 6);
  EXPECT_EQ(batch.value().dictionary.text(read[0].text), "known");
  EXPECT_EQ(read[1].text, StringId::kNone);
}

// An older version knows fewer columns; they read as zero or "not measured".
TEST(FrameDamageTest, MissingColumnsReadAsNothing) {
  std::string table;
  pbf_writer(table).add_uint32(frame_layout::kRowCount, 3);
  std::string payload;
  pbf_writer(payload).add_message(frame_layout::table_field<Span>(), table);
  const auto batch = decode_frame(framed(payload));
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  ASSERT_EQ(batch.value().rows.of<Span>().size(), 3U);
  EXPECT_FALSE(batch.value().rows.of<Span>()[0].bytes.has_value());
}

struct Hostile {
  const char* what;
  std::string dictionary;
  std::string marks;
};

std::string columns(std::initializer_list<std::pair<uint32_t, std::string>> fields) {
  std::string bytes;
  for (const auto& [field, packed] : fields) pbf_writer(bytes).add_bytes(field, packed);
  return bytes;
}
std::string rows_of(uint32_t rows, std::string_view rest = {}) {
  std::string bytes;
  pbf_writer(bytes).add_uint32(frame_layout::kRowCount, rows);
  return bytes += rest;
}
std::string varint_field(uint32_t field) {
  std::string bytes;
  pbf_writer(bytes).add_uint64(field, 5);
  return bytes;
}

std::vector<Hostile> hostile_payloads() {
  using namespace frame_layout;
  const std::string one("\x01");
  return {
      {"an id beyond the strings", {}, rows_of(1, columns({{3, one}}))},
      {"fewer values than rows", {}, rows_of(2, columns({{2, one}}))},
      {"more values than rows", {}, rows_of(1, columns({{2, "\x01\x01"}}))},
      {"a value that does not end", {}, rows_of(1, columns({{2, "\x81"}}))},
      {"a value of 11 bytes", {}, rows_of(1, columns({{2, std::string(10, '\x81') + "\x01"}}))},
      {"rows over the limit", {}, rows_of(kMaxRowsPerTable + 1)},
      {"a column that is a number", {}, rows_of(1, varint_field(2))},
      {"a row count that is bytes", {}, columns({{kRowCount, one}})},
      {"a string that is a number", varint_field(kStrings), {}},
      {"a list that is a number", varint_field(kStackFrames), {}},
      {"a parent after its child",
       columns({{kStackParents, one}, {kStackFrames, std::string(1, '\0')}}),
       {}},
      {"a frame that is not there", columns({{kStackFrames, one}}), {}},
      {"a symbol that is not there", columns({{kFrameSymbols, one}}), {}},
      {"a detail longer than its items",
       columns({{kDetailLengths, "\x02"}, {kDetailTypes, std::string(1, '\0')}}),
       {}},
      {"a detail string that is not there",
       columns({{kDetailTypes, "\x02"}, {kDetailValues, one}}),
       {}},
      {"columns of a list that differ in length",
       columns({{kThreadPids, one}, {kThreadTids, "\x01\x01"}}),
       {}},
      {"a list over the limit",
       columns({{kThreadPids, std::string(kMaxListLength + 1, '\x01')}}),
       {}},
  };
}

TEST(FrameDamageTest, HostilePayloadsAreCorrupt) {
  for (const Hostile& hostile : hostile_payloads()) {
    std::string payload;
    pbf_writer out(payload);
    out.add_message(frame_layout::kDictionary, hostile.dictionary);
    if (!hostile.marks.empty()) out.add_message(frame_layout::table_field<Mark>(), hostile.marks);
    expect_corrupt(framed(payload), hostile.what);
  }
}

TEST(FrameDamageTest, TooManyStringsAreCorrupt) {
  std::string names;
  pbf_writer dictionary(names);
  for (uint32_t i = 0; i <= kMaxListLength; ++i) dictionary.add_string(frame_layout::kStrings, "s");
  std::string payload;
  pbf_writer(payload).add_message(frame_layout::kDictionary, names);
  expect_corrupt(framed(payload), "too many strings");
}

TEST(FrameDamageTest, HistogramsMustFitTheirBuckets) {
  constexpr uint32_t kLatency = 13;
  for (const bool too_long : {false, true}) {
    const std::string lengths = too_long ? "\x03" : "\x02";
    const std::string table = rows_of(
        1, columns({{kLatency, lengths}, {kLatency + frame_layout::kBucketsOffset, "\x04\x06"}}));
    std::string payload;
    pbf_writer(payload).add_message(frame_layout::table_field<Counter>(), table);
    const auto batch = decode_frame(framed(payload));
    ASSERT_EQ(batch.ok(), !too_long);
    if (too_long) continue;
    EXPECT_EQ(batch.value().rows.buckets, (std::vector<int64_t>{2, 3}));
  }
}

// A second dictionary could shrink lists that the first one's ids point into.
TEST(FrameDamageTest, ASecondDictionaryOrTableIsCorrupt) {
  const std::string details = columns(
      {{frame_layout::kDetailLengths, "\x01"}, {frame_layout::kDetailTypes, std::string(1, '\0')}});
  std::string payload;
  pbf_writer out(payload);
  out.add_message(frame_layout::kDictionary, details);
  out.add_message(frame_layout::kDictionary, std::string());
  expect_corrupt(framed(payload), "two dictionaries");
  payload.clear();
  pbf_writer twice(payload);
  twice.add_message(frame_layout::table_field<Mark>(), rows_of(1));
  twice.add_message(frame_layout::table_field<Mark>(), rows_of(1));
  expect_corrupt(framed(payload), "a table twice");
}

}  // namespace
}  // namespace fathom
