// SPDX-License-Identifier: Apache-2.0
#include "record/frame.h"

#include "record/frame_layout.h"
#include "record/frame_packer.h"
#include "record/random_rows.h"

namespace fathom {
namespace {

std::string encoded(const Interner& names, const Rows& rows, uint32_t flags = 0) {
  FrameEncoder encoder;
  auto frame = encoder.encode(names.dictionary(), rows, flags);
  EXPECT_TRUE(frame.ok()) << frame.error().message;
  return frame.ok() ? std::move(frame).value() : std::string();
}

void expect_round_trip(const Interner& names, const Rows& rows) {
  const auto batch = decode_frame(encoded(names, rows));
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  const std::vector<std::string> before = exact_lines(names.dictionary(), rows);
  const std::vector<std::string> after = exact_lines(batch.value().dictionary, batch.value().rows);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) ASSERT_EQ(before[i], after[i]);
}

TEST(FrameTest, EveryKindAndColumnComesBackAsItWent) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    RandomRows random(seed);
    random.add_to_every_table(seed % 7 == 0 ? 200 : 1 + seed % 5);
    expect_round_trip(random.names, random.rows);
  }
}

// Each column alone, all others at their default, so that none hides behind its neighbour.
TEST(FrameTest, EveryColumnAloneComesBack) {
  for_each_table([]<class Record>() {
    for_each_field<Record>([]<class Member>(const Field<Record, Member>& field, uint32_t) {
      RandomRows random(7);
      for (int i = 0; i < 50; ++i) {
        Record record;
        record.*field.member = random.make<Record>().*field.member;
        random.rows.of<Record>().push_back(record);
      }
      SCOPED_TRACE(std::string(TableOf<Record>::kName) + "." + field.name);
      expect_round_trip(random.names, random.rows);
    });
  });
}

// A column of zeros is not written: the decoder must not put a record's default in its place.
TEST(FrameTest, ZerosEverywhereStayZero) {
  Interner names;
  Rows rows;
  for_each_table([&]<class Record>() {
    Record record;
    for_each_field<Record>([&]<class Member>(const Field<Record, Member>& field, uint32_t) {
      record.*field.member = Member{};
    });
    rows.of<Record>().assign(3, record);
  });
  expect_round_trip(names, rows);
}

// What an element of a dictionary holds may be all zero, and the element still counts: thread 0 of
// process 0 is the idle task.
TEST(FrameTest, DictionaryEntriesOfZerosComeBack) {
  Interner names;
  Rows rows;
  Span span;
  span.thread = names.thread(0, 0);
  span.stack = names.stack(StackId::kNone, names.frame(Frame{}));
  span.detail = names.detail(std::vector<DetailItem>{{StringId::kNone, int64_t{0}}});
  rows.of<Span>().push_back(span);
  expect_round_trip(names, rows);
  span.stack = names.stack(StackId::kNone, FrameId::kNone);
  rows.of<Span>().assign(1, span);
  expect_round_trip(names, rows);
}

TEST(FrameTest, AbsentIsNotZero) {
  Interner names;
  Rows rows;
  rows.of<Span>().resize(3);
  rows.of<Span>()[1].bytes = 0;
  rows.of<Span>()[2].result = 0;
  const auto batch = decode_frame(encoded(names, rows));
  ASSERT_TRUE(batch.ok());
  const auto& spans = batch.value().rows.of<Span>();
  EXPECT_FALSE(spans[0].bytes.has_value());
  EXPECT_EQ(spans[1].bytes, Maybe(0));
  EXPECT_FALSE(spans[1].result.has_value());
  EXPECT_EQ(spans[2].result, Maybe(0));
}

// 0 is taken by "not measured": the smallest integer becomes its neighbour and never nothing.
TEST(FrameTest, TheSmallestMaybeBecomesItsNeighbour) {
  Interner names;
  Rows rows;
  rows.of<Span>().resize(2);
  rows.of<Span>()[0].bytes = INT64_MIN;
  rows.of<Span>()[1].bytes = INT64_MAX;
  const auto batch = decode_frame(encoded(names, rows));
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch.value().rows.of<Span>()[0].bytes, Maybe(INT64_MIN + 1));
  EXPECT_EQ(batch.value().rows.of<Span>()[1].bytes, Maybe(INT64_MAX));
}

TEST(FrameTest, AResultNearItsBytesCostsNothing) {
  Interner names;
  Rows rows;
  for (int64_t i = 0; i < 1000; ++i) {
    Span span;
    span.bytes = i * 7919 % 65536;
    span.result = i % 10 == 0 ? Maybe(-11) : span.bytes;
    if (i % 10 == 0) span.bytes = Maybe();
    rows.of<Span>().push_back(span);
  }
  expect_round_trip(names, rows);
  const size_t with = encoded(names, rows).size();
  for (Span& span : rows.of<Span>()) span.result = Maybe();
  EXPECT_LT(with, encoded(names, rows).size() + 200);
}

TEST(FrameTest, StacksAThousandDeepComeBack) {
  Interner names;
  Rows rows;
  StackId stack{};
  for (int i = 0; i < 1000; ++i) {
    Frame frame;
    frame.symbol = names.string("f" + std::to_string(i % 17));
    frame.line = static_cast<uint32_t>(i);
    stack = names.stack(stack, names.frame(frame));
  }
  Sample sample;
  sample.stack = stack;
  rows.of<Sample>().assign(2, sample);
  // A caller of it, met after it: it has its number already.
  sample.stack = names.dictionary().stacks[index_of(stack)].parent;
  rows.of<Sample>().push_back(sample);
  expect_round_trip(names, rows);
}

TEST(FrameTest, TheMostRowsComeBack) {
  Interner names;
  Rows rows;
  for (size_t i = 0; i < kMaxRowsPerTable; ++i) {
    rows.of<Mark>().push_back(
        {static_cast<int64_t>(i * i), names.string(std::to_string(i % 5000))});
  }
  expect_round_trip(names, rows);
}

TEST(FrameTest, AHugeStringComesBack) {
  Interner names;
  Rows rows;
  rows.of<Mark>().push_back({1, names.string(std::string(size_t{20} << 20, 'h'))});
  expect_round_trip(names, rows);
}

TEST(FrameTest, NoRecordsAtAll) {
  const std::string frame = encoded(Interner(), Rows(), kSealFlag);
  const auto batch = decode_frame(frame);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch.value().rows.count(), 0U);
  EXPECT_TRUE(parse_frame_header(frame).value().sealed());
  EXPECT_EQ(parse_frame_header(frame).value().tables, 0U);
}

TEST(FrameTest, IdsAreLocalToAFrame) {
  Interner names;
  for (int i = 0; i < 10'000; ++i) names.string("other " + std::to_string(i));
  Rows rows;
  rows.of<Mark>().push_back({5, names.string("last")});
  FrameEncoder encoder;
  // The second frame of the same encoder knows nothing of the first.
  Rows first;
  first.of<Mark>().push_back({4, names.string("first")});
  ASSERT_TRUE(encoder.encode(names.dictionary(), first).ok());
  const auto frame = encoder.encode(names.dictionary(), rows);
  const auto batch = decode_frame(frame.value());
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch.value().dictionary.strings.size(), 2U);
  EXPECT_EQ(batch.value().rows.of<Mark>()[0].text, static_cast<StringId>(1));
  EXPECT_EQ(batch.value().dictionary.text(static_cast<StringId>(1)), "last");
  EXPECT_LT(frame.value().size(), 100U);
}

TEST(FrameTest, EveryFrameDecodesAlone) {
  RandomRows random(3);
  FrameEncoder encoder;
  std::vector<std::string> frames;
  std::vector<std::vector<std::string>> lines;
  for (int i = 0; i < 5; ++i) {
    random.rows.clear();
    random.add_to_every_table(4);
    lines.push_back(exact_lines(random.names.dictionary(), random.rows));
    frames.push_back(encoder.encode(random.names.dictionary(), random.rows).value());
  }
  for (const size_t i : {3U, 0U, 4U}) {
    const auto batch = decode_frame(frames[i]);
    ASSERT_TRUE(batch.ok());
    EXPECT_EQ(exact_lines(batch.value().dictionary, batch.value().rows), lines[i]);
  }
}

TEST(FrameTest, OnlyTheTablesAskedForAreDecoded) {
  RandomRows random(4);
  random.add_to_every_table(3);
  const std::string frame = encoded(random.names, random.rows);
  EXPECT_EQ(parse_frame_header(frame).value().tables, kAllTables);
  const auto batch = decode_frame(frame, tables_of<Gauge, Mark>());
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch.value().rows.present(), (tables_of<Gauge, Mark>()));
}

TEST(FrameTest, TooLargeIsAnErrorAndTheEncoderGoesOn) {
  Interner names;
  Rows rows;
  rows.of<Mark>().push_back({1, names.string(std::string(kMaxRawBytes, 'x'))});
  FrameEncoder encoder;
  const auto frame = encoder.encode(names.dictionary(), rows);
  ASSERT_FALSE(frame.ok());
  EXPECT_EQ(frame.error().code, Code::kInvalid);
  rows.of<Mark>()[0].text = names.string("small");
  const auto after = encoder.encode(names.dictionary(), rows);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(decode_frame(after.value()).value().dictionary.strings.size(), 2U);
}

// What is not compressible must fit the payload limit, which is smaller.
TEST(FrameTest, APayloadOverTheLimitIsAnError) {
  std::mt19937_64 random(5);
  std::string noise(kMaxPayloadBytes + 100, '\0');
  for (size_t i = 0; i + 8 <= noise.size(); i += 8) {
    const uint64_t word = random();
    noise.replace(i, 8, std::string_view(reinterpret_cast<const char*>(&word), 8));
  }
  Interner names;
  Rows rows;
  rows.of<Mark>().push_back({1, names.string(noise)});
  FrameEncoder encoder;
  EXPECT_FALSE(encoder.encode(names.dictionary(), rows).ok());
}

TEST(FrameTest, TooManyBucketsAreAnError) {
  Interner names;
  Rows rows;
  rows.buckets.resize(64);
  Counter counter;
  counter.latency = {0, 64};
  rows.of<Counter>().assign(kMaxRowsPerTable, counter);
  FrameEncoder encoder;
  EXPECT_TRUE(encoder.encode(names.dictionary(), rows).ok());
  rows.buckets.resize(65);
  counter.latency = {0, 65};
  rows.of<Counter>().assign(kMaxRowsPerTable, counter);
  EXPECT_FALSE(encoder.encode(names.dictionary(), rows).ok());
}

TEST(FrameTest, TooManyDetailItemsAreAnError) {
  Interner names;
  Rows rows;
  for (size_t i = 0; i * 64 <= kMaxListLength; ++i) {
    std::vector<DetailItem> items(64, {StringId::kNone, static_cast<int64_t>(i)});
    Row row;
    row.values = names.detail(items);
    rows.of<Row>().push_back(row);
  }
  FrameEncoder encoder;
  EXPECT_FALSE(encoder.encode(names.dictionary(), rows).ok());
  rows.of<Row>().pop_back();
  expect_round_trip(names, rows);
}

}  // namespace
}  // namespace fathom
