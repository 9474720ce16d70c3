// SPDX-License-Identifier: Apache-2.0
#include "record/merge.h"

#include "record/frame.h"
#include "record/random_rows.h"

namespace fathom {
namespace {

TEST(MergeTest, RecordsKeepTheirMeaningInAnotherDictionary) {
  Interner names;
  Rows rows;
  std::vector<std::string> wanted;
  // The second batch comes from another dictionary, and the target knows more than either.
  for (int i = 0; i < 100; ++i) names.string("known before " + std::to_string(i));
  for (const uint64_t seed : {1U, 2U}) {
    RandomRows random(seed);
    random.add_to_every_table(40);
    const auto frame = FrameEncoder().encode(random.names.dictionary(), random.rows);
    const auto batch = decode_frame(frame.value());
    ASSERT_TRUE(batch.ok());
    add_translated(batch.value(), names, rows);
    for (const std::string& line : exact_lines(random.names.dictionary(), random.rows)) {
      wanted.push_back(line);
    }
  }
  std::vector<std::string> merged = exact_lines(names.dictionary(), rows);
  std::sort(merged.begin(), merged.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(merged, wanted);
}

TEST(MergeTest, TheLastOfAKeyCountsAtThePlaceOfTheFirst) {
  Rows rows;
  const auto process = [&](int64_t pid, int64_t start_ns, Maybe end_ns) {
    Process record;
    record.pid = pid;
    record.start_ns = start_ns;
    record.end_ns = end_ns;
    rows.of<Process>().push_back(record);
  };
  process(1, 10, {});
  process(2, 20, {});
  process(1, 10, 99);
  process(1, 500, {});  // the number was given again
  process(2, 20, 30);
  process(2, 20, 31);
  rows.of<Mark>().assign(3, Mark{1, {}});
  keep_last(rows);
  const auto& kept = rows.of<Process>();
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].end_ns, Maybe(99));
  EXPECT_EQ(kept[1].end_ns, Maybe(31));
  EXPECT_EQ(kept[2].start_ns, 500);
  EXPECT_EQ(rows.of<Mark>().size(), 3U) << "records without a key all stay";
}

}  // namespace
}  // namespace fathom
