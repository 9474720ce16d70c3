// SPDX-License-Identifier: Apache-2.0
#include "record/tables.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "base/duckdb.h"
#include "base/fd.h"
#include "record/sample_recording.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Fills every field of a record with something that depends on `seed`; every fifth stays absent.
class Filler {
 public:
  explicit Filler(Interner& names) : names_(names) {}

  template <class Record>
  Record make(int64_t seed, Rows& rows) {
    Record record;
    int64_t place = seed;
    for_each_field<Record>(
        [&](const auto& field, uint32_t) { fill(record.*field.member, ++place, rows); });
    return record;
  }

 private:
  static bool absent(int64_t place) { return place % 5 == 0; }
  static int64_t odd(int64_t place) {
    constexpr int64_t kOdd[] = {0,   1, -1, INT64_MAX, INT64_MIN + 1, 1'700'000'000'000'000'000,
                                4096};
    return kOdd[static_cast<size_t>(place) % std::size(kOdd)];
  }
  void fill(int64_t& value, int64_t place, Rows&) { value = odd(place); }
  void fill(Maybe& value, int64_t place, Rows&) {
    if (!absent(place)) value = odd(place);
  }
  void fill(double& value, int64_t place, Rows&) {
    constexpr double kOdd[] = {0.1,
                               -0.0,
                               1e308,
                               std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity(),
                               5e-324};
    value = kOdd[static_cast<size_t>(place) % std::size(kOdd)];
  }
  void fill(StringId& id, int64_t place, Rows&) {
    static const std::string kOdd[] = {"short",
                                       "just 12 byte",
                                       "just 13 bytes",
                                       "naïve ☃ 𝄞",
                                       "a 'quote\" \\ \n\t,;",
                                       std::string(5000, 'x'),
                                       std::string("nul\0inside", 10)};
    if (!absent(place)) id = names_.string(kOdd[static_cast<size_t>(place) % std::size(kOdd)]);
  }
  void fill(ThreadId& id, int64_t place, Rows&) {
    if (!absent(place)) id = names_.thread(place % 3, place);
  }
  void fill(StackId& id, int64_t place, Rows&) {
    if (absent(place)) return;
    for (int64_t depth = 0; depth < 1 + place % 200; ++depth) {
      Frame frame;
      frame.symbol = names_.string(fmt::format("function_{}", depth % 7));
      if (depth % 2 == 0) frame.module = names_.string("/usr/lib/libc.so.6");
      frame.line = static_cast<uint32_t>(depth % 3);
      frame.kind = static_cast<FrameKind>(depth % 7);
      id = names_.stack(id, names_.frame(frame));
    }
  }
  void fill(DetailId& id, int64_t place, Rows&) {
    if (absent(place)) return;
    const DetailItem items[] = {{names_.string("integer"), odd(place)},
                                {names_.string("whole real"), 2.0},
                                {names_.string("real"), 0.1},
                                {names_.string("a/b~c\"d"), names_.string("te\"xt ☃")},
                                {names_.string("big"), 1e300}};
    id = names_.detail(items);
  }
  void fill(Histogram& range, int64_t place, Rows& rows) {
    if (absent(place)) return;
    range = {static_cast<uint32_t>(rows.buckets.size()), static_cast<uint32_t>(place % 40 + 1)};
    for (uint32_t i = 0; i < range.length; ++i) rows.buckets.push_back(odd(place + i));
  }

  Interner& names_;
};

class TablesTest : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_DUCKDB(); }

  // Two frames of every table; keyed records of the first come again in the second.
  void write_odd_journal(bool sealed = true) {
    Interner names;
    Filler filler(names);
    std::vector<Rows> frames(2);
    for (int64_t seed = 0; seed < 60; ++seed) {
      for_each_table([&]<class Record>() {
        Rows& rows = frames[static_cast<size_t>(seed % 2)];
        rows.of<Record>().push_back(filler.make<Record>(seed, rows));
      });
    }
    write_journal(folder_, names, frames, sealed);
  }

  Status convert() {
    const auto recording = Recording::open(folder_);
    EXPECT_TRUE(recording.ok());
    return convert_journal(recording.value());
  }
  bool exists(const std::string& name) { return fs::exists(folder_ + "/" + name); }

  ScratchFolder scratch_;
  std::string folder_ = scratch_.path() + "/od'd [1]*?{a}.fathom";  // as people name folders
};

TEST_F(TablesTest, EveryRowOfEveryTableComesBack) {
  write_odd_journal();
  const std::vector<std::string> before = all_rows(folder_);
  ASSERT_FALSE(before.empty());
  const Status converted = convert();
  ASSERT_TRUE(converted.ok()) << converted.error().message;
  EXPECT_FALSE(exists(kJournalName));
  EXPECT_FALSE(exists(".converting"));
  for_each_table([&]<class Record>() {
    EXPECT_TRUE(exists(std::string(TableOf<Record>::kName) + ".parquet"));
  });
  EXPECT_TRUE(exists(kRunFileName));
  EXPECT_EQ(all_rows(folder_), before);
}

TEST_F(TablesTest, AnUnsealedJournalConverts) {
  write_odd_journal(false);
  const Recording torn = Recording::open(folder_).value();
  const std::string& damage = torn.damage();
  EXPECT_FALSE(damage.empty());
  const auto before = collect(torn, kAllTables).value();
  ASSERT_TRUE(convert().ok());
  const auto after = collect(Recording::open(folder_).value(), kAllTables).value();
  EXPECT_EQ(after->rows.count(), before->rows.count());
  // What was missing is still said when the journal is gone.
  const auto& runs = after->rows.of<fathom::Run>();
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_TRUE(after->text(runs[i].damage).ends_with(damage));
    EXPECT_EQ(after->text(runs[i].damage), before->text(before->rows.of<fathom::Run>()[i].damage));
  }
}

TEST_F(TablesTest, TwoConvertersAtOnceLoseNothing) {
  write_odd_journal();
  const std::vector<std::string> before = all_rows(folder_);
  const Recording first = Recording::open(folder_).value();
  const Recording second = Recording::open(folder_).value();
  Status other;
  std::thread thread([&] { other = convert_journal(second); });
  const Status own = convert_journal(first);
  thread.join();
  EXPECT_TRUE(own.ok()) << own.error().message;
  EXPECT_TRUE(other.ok()) << other.error().message;
  EXPECT_EQ(all_rows(folder_), before);
}

TEST_F(TablesTest, TheLastOfAKeyedRecordCounts) {
  Interner names;
  std::vector<Rows> frames(3);
  for (int64_t i = 0; i < 3; ++i) {
    Process process;
    process.pid = 7;
    process.start_ns = 100;
    process.user_ns = i;
    process.name = names.string(fmt::format("name {}", i));
    frames[static_cast<size_t>(i)].of<Process>().push_back(process);
  }
  write_journal(folder_, names, frames);
  ASSERT_TRUE(convert().ok());
  const auto collected = collect(Recording::open(folder_).value(), tables_of<Process>());
  ASSERT_TRUE(collected.ok()) << collected.error().message;
  const auto& processes = collected.value()->rows.of<Process>();
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_EQ(processes[0].user_ns, 2);
  EXPECT_EQ(collected.value()->text(processes[0].name), "name 2");
}

TEST_F(TablesTest, TextThatIsNotUtf8IsMarkedWhereItIsNot) {
  Interner names;
  std::vector<Rows> frames(1);
  frames[0].of<Mark>().push_back({1, names.string("a\xFF\xFE"
                                                  "b \xC3\xA4 \xED\xA0\x80")});
  write_journal(folder_, names, frames);
  ASSERT_TRUE(convert().ok());
  const auto collected = collect(Recording::open(folder_).value(), tables_of<Mark>());
  ASSERT_TRUE(collected.ok()) << collected.error().message;
  EXPECT_EQ(collected.value()->text(collected.value()->rows.of<Mark>().at(0).text),
            "a\uFFFD\uFFFD"
            "b ä \uFFFD\uFFFD\uFFFD");
}

TEST_F(TablesTest, ManyRowsComeBackInBatchesThatAreNotTooLarge) {
  Interner names;
  std::vector<Rows> frames(3);
  int64_t sum = 0;
  for (Rows& rows : frames) {
    for (int64_t i = 0; i < int64_t{kMaxRowsPerTable}; ++i) {
      Span span;
      span.start_ns = i;
      span.duration_ns = i % 1000;
      span.file = names.string(fmt::format("/some/folder/file-{}", i % 100));
      sum += span.duration_ns;
      rows.of<Span>().push_back(span);
    }
  }
  write_journal(folder_, names, frames);
  ASSERT_TRUE(convert().ok());
  size_t count = 0;
  const Status read =
      Recording::open(folder_).value().read(kAllTables, [&](const Batch& batch) -> Status {
        EXPECT_LE(batch.rows.of<Span>().size(), kMaxRowsPerTable);
        for (const Span& span : batch.rows.of<Span>()) sum -= span.duration_ns;
        count += batch.rows.of<Span>().size();
        return {};
      });
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(count, 3U * kMaxRowsPerTable);
  EXPECT_EQ(sum, 0);
}

TEST_F(TablesTest, AKillBeforeTheTablesMovedStartsOver) {
  write_odd_journal();
  const std::vector<std::string> before = all_rows(folder_);
  fs::create_directories(folder_ + "/.converting");
  ASSERT_TRUE(write_file(folder_ + "/.converting/spans.parquet", "half a file").ok());
  EXPECT_EQ(all_rows(folder_), before);
  ASSERT_TRUE(convert().ok());
  EXPECT_FALSE(exists(".converting"));
  EXPECT_EQ(all_rows(folder_), before);
}

TEST_F(TablesTest, AKillBeforeTheJournalWentStartsOver) {
  write_odd_journal();
  const std::vector<std::string> before = all_rows(folder_);
  fs::copy_file(folder_ + "/journal", scratch_.path() + "/kept");
  ASSERT_TRUE(convert().ok());
  fs::copy_file(scratch_.path() + "/kept", folder_ + "/journal");
  ASSERT_TRUE(write_file(folder_ + "/samples.parquet", "not what the journal says").ok());
  EXPECT_EQ(all_rows(folder_), before);
  ASSERT_TRUE(convert().ok());
  EXPECT_FALSE(exists(kJournalName));
  EXPECT_EQ(all_rows(folder_), before);
}

TEST_F(TablesTest, TablesOfAnUnfinishedConversionDoNotStay) {
  Interner names;
  std::vector<Rows> frames(1);
  frames[0].of<Mark>().push_back({1, names.string("mark")});
  write_journal(folder_, names, frames);
  ASSERT_TRUE(write_file(folder_ + "/spans.parquet", "from another time").ok());
  ASSERT_TRUE(convert().ok());
  EXPECT_FALSE(exists("spans.parquet"));
  EXPECT_TRUE(exists("runs.parquet"));
  EXPECT_EQ(all_rows(folder_).size(), 1U);
}

TEST_F(TablesTest, OfADamagedJournalTheRestConvertsAndTheDamageIsKept) {
  write_odd_journal();
  const std::string path = folder_ + "/" + kJournalName;
  std::string bytes = read_file(path).value();
  bytes[200] = static_cast<char>(bytes[200] ^ 1);
  ASSERT_TRUE(write_file(path, bytes).ok());
  const std::string damage = Recording::open(folder_).value().damage();
  EXPECT_NE(damage.find("damaged in 1 place"), std::string::npos) << damage;
  const std::vector<std::string> before = all_rows(folder_);
  ASSERT_TRUE(convert().ok());
  EXPECT_FALSE(exists(kJournalName));
  EXPECT_EQ(all_rows(folder_), before);
  const auto after = collect(Recording::open(folder_).value(), tables_of<fathom::Run>()).value();
  ASSERT_FALSE(after->rows.of<fathom::Run>().empty());
  const std::string_view told = after->text(after->rows.of<fathom::Run>()[0].damage);
  EXPECT_TRUE(told.ends_with(damage)) << told;  // after what the run itself said
}

TEST_F(TablesTest, ADamagedJournalWithoutARowOfTheRunStays) {
  Interner names;
  std::vector<Rows> frames(2);
  for (Rows& rows : frames) rows.of<Mark>().push_back({1, names.string("mark")});
  write_journal(folder_, names, frames);
  const std::string path = folder_ + "/" + kJournalName;
  std::string bytes = read_file(path).value();
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  ASSERT_TRUE(write_file(path, bytes).ok());
  const Status converted = convert();
  ASSERT_FALSE(converted.ok());
  EXPECT_EQ(converted.error().code, Code::kCorrupt);
  EXPECT_TRUE(exists(kJournalName));
  EXPECT_FALSE(exists("runs.parquet"));
}

TEST_F(TablesTest, ATableThatIsGoneIsDamage) {
  write_odd_journal();
  ASSERT_TRUE(convert().ok());
  EXPECT_EQ(Recording::open(folder_).value().damage(), "");
  fs::remove(folder_ + "/gauges.parquet");
  const Recording recording = Recording::open(folder_).value();
  EXPECT_EQ(recording.damage(), "gauges.parquet with its 60 rows is gone");
  const auto facts = collect(recording, tables_of<fathom::Run>()).value();
  for (const fathom::Run& run : facts->rows.of<fathom::Run>())
    EXPECT_TRUE(facts->text(run.damage).ends_with("gauges.parquet with its 60 rows is gone"));
  fs::remove(folder_ + "/" + kRunFileName);  // nothing says what there was
  EXPECT_EQ(Recording::open(folder_).value().damage(), "");
}

TEST_F(TablesTest, ATableWithOtherRowsIsDamage) {
  write_odd_journal();
  ASSERT_TRUE(convert().ok());
  auto database = DuckDatabase::open();
  auto connection = DuckConnection::open(database.value());
  ASSERT_TRUE(connection.value()
                  .execute("COPY (SELECT 7 AS time_ns) TO " +
                           sql_text(folder_ + "/samples.parquet") + " (FORMAT parquet)")
                  .ok());
  fs::remove(folder_ + "/" + kChecksumsName);
  const Recording recording = Recording::open(folder_).value();
  ASSERT_TRUE(recording.read(kAllTables, [](const Batch&) { return Status(); }).ok());
  EXPECT_EQ(recording.damage(), "samples.parquet has 1 rows, and was written with 60");
}

TEST_F(TablesTest, DamageThatComesAfterTheJournalWasOpenedIsSeen) {
  write_odd_journal();
  const std::string path = folder_ + "/" + kJournalName;
  const auto recording = Recording::open(folder_);
  std::string bytes = read_file(path).value();
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  ASSERT_TRUE(write_file(path, bytes).ok());
  const Status converted = convert_journal(recording.value());
  ASSERT_FALSE(converted.ok());
  EXPECT_TRUE(exists(kJournalName));
  EXPECT_FALSE(exists(".converting"));
  EXPECT_FALSE(exists("runs.parquet"));
}

TEST_F(TablesTest, ADamagedTableIsNamed) {
  write_odd_journal();
  ASSERT_TRUE(convert().ok());
  const std::string path = folder_ + "/gauges.parquet";
  std::string bytes = read_file(path).value();
  bytes.resize(bytes.size() / 2);
  ASSERT_TRUE(write_file(path, bytes).ok());
  const Recording recording = Recording::open(folder_).value();
  size_t rows = 0;
  ASSERT_TRUE(recording
                  .read(tables_of<Gauge, Mark>(),
                        [&](const Batch& batch) {
                          EXPECT_TRUE(batch.rows.of<Gauge>().empty());
                          rows += batch.rows.of<Mark>().size();
                          return Status();
                        })
                  .ok());
  EXPECT_EQ(rows, 60U) << "the others are read";
  EXPECT_EQ(recording.damaged_tables(), std::vector<std::string>{"gauges.parquet"});
  const size_t tables = recording.written_tables().size();
  EXPECT_EQ(recording.damage(), "gauges.parquet is damaged; " + std::to_string(tables - 1) +
                                    " of " + std::to_string(tables) + " tables are whole");
}

TEST_F(TablesTest, WithoutTheTableOfRunsNothingIsRead) {
  write_odd_journal();
  ASSERT_TRUE(convert().ok());
  ASSERT_TRUE(write_file(folder_ + "/runs.parquet", "PAR1 and no more").ok());
  const Status read = Recording::open(folder_).value().read(tables_of<fathom::Run>(),
                                                            [](const Batch&) { return Status(); });
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kCorrupt);
  EXPECT_TRUE(read.error().message.ends_with("runs.parquet is damaged")) << read.error().message;
}

TEST_F(TablesTest, ColumnsOfOtherVersionsDoNotMatter) {
  write_odd_journal();
  ASSERT_TRUE(convert().ok());
  auto database = DuckDatabase::open();
  auto connection = DuckConnection::open(database.value());
  const std::string path = folder_ + "/samples.parquet";
  ASSERT_TRUE(connection.value()
                  .execute("COPY (SELECT 5 AS invented, 7::INTEGER AS time_ns) TO " +
                           sql_text(path) + " (FORMAT parquet)")
                  .ok());
  fs::remove(folder_ + "/" + kChecksumsName);
  const auto collected = collect(Recording::open(folder_).value(), tables_of<Sample>());
  ASSERT_TRUE(collected.ok()) << collected.error().message;
  const auto& samples = collected.value()->rows.of<Sample>();
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].time_ns, 7);
  EXPECT_EQ(samples[0].weight, 1);  // its default
  EXPECT_EQ(samples[0].thread, ThreadId::kNone);
}

}  // namespace
}  // namespace fathom
