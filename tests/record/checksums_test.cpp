// SPDX-License-Identifier: Apache-2.0
#include "record/checksums.h"

#include <gmock/gmock.h>

#include "base/fd.h"
#include "record/column.h"
#include "record/sample_recording.h"
#include "record/sample_sums.h"
#include "record/sql.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Checksums, AreReadAsWrittenOrNotAtAll) {
  const Checksums sums = {{"runs.parquet", {7, 0xfedcba98}},
                          {"spans.parquet", {int64_t{1} << 40, 1}}};
  const std::string text = checksums_text(sums);
  EXPECT_TRUE(text.starts_with("fedcba98 7 runs.parquet\n00000001 1099511627776 spans.parquet\n"))
      << text;
  ASSERT_TRUE(checksums_in(text).ok());
  EXPECT_EQ(checksums_in(text).value(), sums);
  EXPECT_TRUE(checksums_in(checksums_text({})).ok());
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(checksums_in(text.substr(0, i)).ok()) << i;
    EXPECT_FALSE(checksums_in(text.substr(i + 1)).ok()) << i;
    std::string flipped = text;
    flipped[i] = static_cast<char>(flipped[i] ^ 4);
    EXPECT_FALSE(checksums_in(flipped).ok()) << i;
  }
}

TEST(Checksums, AFileIsComparedWithWhatWasWritten) {
  const ScratchFolder scratch;
  const std::string path = scratch.path() + "/file";
  ASSERT_TRUE(write_file(path, "123456789").ok());
  const FileSum sum = sum_of_file(path).value();
  EXPECT_EQ(sum, (FileSum{9, 0xe3069283}));  // the check value of CRC-32C
  EXPECT_TRUE(is_as_written(path, sum).value());
  ASSERT_TRUE(write_file(path, "123456780").ok());
  EXPECT_FALSE(is_as_written(path, sum).value());
  ASSERT_TRUE(write_file(path, "12345678").ok());
  EXPECT_FALSE(is_as_written(path, sum).value());
  EXPECT_FALSE(is_as_written(scratch.path(), sum).value()) << "a folder";
  EXPECT_EQ(is_as_written(path + "-absent", sum).error().code, Code::kNotFound);
}

// A recording with rows in every table.
class TableChecks : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_DUCKDB();
    Interner names;
    std::vector<Rows> frames(1);
    for (int64_t i = 0; i < 30; ++i) {
      for_each_table([&]<class Record>() { frames[0].of<Record>().emplace_back(); });
      frames[0].of<Mark>().back() = {i * i, names.string("mark " + std::to_string(i % 7))};
      frames[0].of<Process>().back().pid = i;
      frames[0].of<Sample>().back().stack =
          names.stack({}, names.frame({.symbol = names.string("f" + std::to_string(i))}));
    }
    write_journal(folder_, names, frames);
    ASSERT_TRUE(convert_journal(Recording::open(folder_).value()).ok());
  }

  [[nodiscard]] std::string path_of(const std::string& file) const { return folder_ + "/" + file; }
  void flip(const std::string& file, size_t at) {
    std::string bytes = read_file(path_of(file)).value();
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    ASSERT_TRUE(write_file(path_of(file), bytes).ok());
  }
  [[nodiscard]] Recording opened() const { return Recording::open(folder_).value(); }
  static Status read_all(const Recording& recording) {
    return recording.read(kAllTables, [](const Batch&) { return Status(); });
  }

  // Each way to read says that this table is damaged, and this one alone.
  void expect_damaged(const std::string& table) {
    const std::string file = table + ".parquet";
    const Recording recording = opened();
    for (const TableColumns& other : all_tables()) {
      const Status checked = recording.check_table(other.name);
      EXPECT_EQ(checked.ok(), other.name != table) << other.name;
      if (checked.ok()) continue;
      EXPECT_EQ(checked.error().code, Code::kCorrupt);
      EXPECT_EQ(checked.error().message, path_of(file) + " is damaged");
      EXPECT_THAT(checked.error().hint, HasSubstr("the other tables"));
    }
    const Recording read = opened();
    const bool of_runs = table == TableOf<fathom::Run>::kName;
    EXPECT_EQ(read_all(read).ok(), !of_runs);
    EXPECT_THAT(read.damaged_tables(), testing::ElementsAre(file));
    EXPECT_THAT(read.damage(), HasSubstr(file + " is damaged; " +
                                         std::to_string(all_tables().size() - 1) + " of "));
    expect_not_asked(table, of_runs);
  }
  void expect_not_asked(const std::string& table, bool of_runs) {
    const auto session = SqlSession::open({opened()});
    ASSERT_EQ(session.ok(), !of_runs);
    if (of_runs) return;
    const auto rows = session.value()->query("SELECT count(*) FROM \"" + table + "\"");
    ASSERT_FALSE(rows.ok());
    EXPECT_EQ(rows.error().code, Code::kCorrupt);
    EXPECT_THAT(rows.error().message, HasSubstr(table + ".parquet is damaged"));
  }

  ScratchFolder scratch_;
  std::string folder_ = scratch_.path() + "/stacks runs.fathom";  // names of tables blame nobody
};

TEST_F(TableChecks, AFlippedByteAnywhereIsSeenAndNamed) {
  for (const TableColumns& table : all_tables()) {
    const std::string file = std::string(table.name) + ".parquet";
    ASSERT_TRUE(fs::exists(path_of(file))) << file;
    const std::string whole = read_file(path_of(file)).value();
    for (const size_t at :
         {size_t{0}, size_t{5}, whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
      SCOPED_TRACE(file + " at " + std::to_string(at));
      flip(file, at);
      expect_damaged(table.name);
      ASSERT_TRUE(write_file(path_of(file), whole).ok());
    }
  }
  EXPECT_TRUE(read_all(opened()).ok());
  EXPECT_EQ(opened().damage(), "");
}

TEST_F(TableChecks, ATableThatWasCutOrHasMoreIsSeenAndNamed) {
  for (const TableColumns& table : all_tables()) {
    const std::string file = std::string(table.name) + ".parquet";
    const std::string whole = read_file(path_of(file)).value();
    for (const std::string& bytes : {std::string(), whole.substr(0, whole.size() / 2),
                                     whole.substr(0, whole.size() - 1), whole + "PAR1"}) {
      SCOPED_TRACE(file + " of " + std::to_string(bytes.size()));
      ASSERT_TRUE(write_file(path_of(file), bytes).ok());
      expect_damaged(table.name);
    }
    ASSERT_TRUE(write_file(path_of(file), whole).ok());
  }
}

TEST_F(TableChecks, AQueryChecksTheTablesItNamesAlone) {
  flip("gauges.parquet", 5);
  const auto session = SqlSession::open({opened()});
  ASSERT_TRUE(session.ok()) << session.error().message;
  const auto asks = [&](const char* sql) { return session.value()->query(sql).ok(); };
  EXPECT_TRUE(asks("SELECT count(*) AS gauges FROM marks"));
  EXPECT_FALSE(asks("SELECT count(*) FROM marks, GAUGES"));
  EXPECT_FALSE(asks("FROM query_table('gau' || 'ges')"));
  EXPECT_FALSE(asks("CREATE TEMP VIEW v AS FROM gauges"));
}

TEST_F(TableChecks, WithoutChecksumsTablesAreReadAsTheyAre) {
  const std::vector<std::string> before = all_rows(folder_);
  fs::remove(path_of(kChecksumsName));
  EXPECT_EQ(all_rows(folder_), before);
  fs::copy_file(path_of("runs.parquet"), path_of("marks.parquet"),
                fs::copy_options::overwrite_existing);
  const Recording recording = opened();
  EXPECT_TRUE(recording.check_table("marks").ok());
  EXPECT_TRUE(read_all(recording).ok());
  EXPECT_TRUE(recording.damaged_tables().empty());
}

TEST_F(TableChecks, ChecksumsThatAreDamagedBlameNoTable) {
  const std::vector<std::string> before = all_rows(folder_);
  flip(kChecksumsName, 3);
  EXPECT_TRUE(read_all(opened()).ok());
  EXPECT_TRUE(opened().damaged_tables().empty());
  EXPECT_THAT(opened().damage(), HasSubstr("checksums makes no sense"));
  EXPECT_EQ(all_rows(folder_).size(), before.size());
}

TEST_F(TableChecks, DamagedSamplesAreNotBlamedOnTheStacks) {
  for (const bool with_checksums : {true, false}) {
    if (!with_checksums) fs::remove(path_of(kChecksumsName));
    const std::string whole = read_file(path_of("samples.parquet")).value();
    ASSERT_TRUE(write_file(path_of("samples.parquet"), whole.substr(0, whole.size() / 2)).ok());
    const Recording recording = opened();
    const Status added = SampleSums().add(recording);
    ASSERT_FALSE(added.ok());
    EXPECT_EQ(added.error().message, path_of("samples.parquet") + " is damaged");
    EXPECT_THAT(recording.damaged_tables(), testing::ElementsAre("samples.parquet"));
    ASSERT_TRUE(write_file(path_of("samples.parquet"), whole).ok());
  }
}

TEST_F(TableChecks, TheArchiveBesideItIsNamedAsTheWayOut) {
  flip("marks.parquet", 5);
  EXPECT_THAT(opened().check_table("marks").error().hint, HasSubstr("unpack it again if it was"));
  ASSERT_TRUE(write_file(folder_ + ".tar", "packed").ok());
  EXPECT_THAT(opened().check_table("marks").error().hint, HasSubstr("stacks runs.fathom.tar"));
}

TEST_F(TableChecks, TheMissingTableOfRunsIsNamed) {
  fs::remove(path_of("runs.parquet"));
  const auto recording = Recording::open(folder_);
  ASSERT_FALSE(recording.ok());
  EXPECT_EQ(recording.error().code, Code::kCorrupt);
  EXPECT_THAT(recording.error().message,
              testing::AllOf(HasSubstr("runs.parquet is missing"),
                             HasSubstr(std::to_string(all_tables().size() - 1) + " other tables")));
  EXPECT_NE(recording.error().hint, "");
}

}  // namespace
}  // namespace fathom
