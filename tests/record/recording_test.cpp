// SPDX-License-Identifier: Apache-2.0
#include "record/recording.h"

#include <gmock/gmock.h>

#include "base/fd.h"
#include "record/sample_recording.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RecordingTest : public testing::Test {
 protected:
  RecordingTest() : folder_(scratch_.path() + "/app.fathom") {
    for (size_t i = 0; i < 3; ++i) {
      Rows rows;
      Process process;
      process.pid = 7;
      process.user_ns = static_cast<int64_t>(i);
      rows.of<Process>().push_back(process);
      rows.of<Mark>().push_back({static_cast<int64_t>(i), names_.string("mark")});
      frames_.push_back(rows);
    }
  }
  void write(bool sealed = true) { write_journal(folder_, names_, frames_, sealed); }
  [[nodiscard]] std::string bytes() const { return read_file(folder_ + "/journal").value(); }
  void put(std::string_view bytes) { ASSERT_TRUE(write_file(folder_ + "/journal", bytes).ok()); }
  void expect_error(const std::string& path, Code code, const char* text) {
    const auto recording = Recording::open(path);
    ASSERT_FALSE(recording.ok());
    EXPECT_EQ(recording.error().code, code) << recording.error().message;
    EXPECT_THAT(recording.error().message + recording.error().hint, HasSubstr(text));
  }

  ScratchFolder scratch_;
  std::string folder_;
  Interner names_;
  std::vector<Rows> frames_;
};

TEST_F(RecordingTest, OpensByFolderNameOrFile) {
  write();
  for (const std::string& path :
       {folder_, folder_ + "/", folder_ + "//", scratch_.path() + "/app", folder_ + "/journal"}) {
    const auto recording = Recording::open(path);
    ASSERT_TRUE(recording.ok()) << path << ": " << recording.error().message;
    EXPECT_EQ(recording.value().form(), Recording::Form::kJournal);
    EXPECT_EQ(recording.value().damage(), "");
    EXPECT_FALSE(recording.value().in_use());
  }
  EXPECT_EQ(Recording::open(scratch_.path() + "/app").value().path(), folder_);
  EXPECT_EQ(Recording::open(folder_ + "/").value().path(), folder_);
}

TEST_F(RecordingTest, SaysWhyItCannotBeOpened) {
  expect_error(scratch_.path() + "/absent", Code::kNotFound, "fathom run");
  expect_error(scratch_.path(), Code::kCorrupt, "neither a journal nor tables");
  ASSERT_TRUE(write_file(scratch_.path() + "/app.fathom.tar", "packed").ok());
  expect_error(scratch_.path() + "/app.fathom.tar", Code::kUnsupported, "fathom unpack");
  ASSERT_TRUE(write_file(scratch_.path() + "/notes.txt", "some text, long enough").ok());
  expect_error(scratch_.path() + "/notes.txt", Code::kCorrupt, "not a journal");
}

TEST_F(RecordingTest, AJournalWithoutAWholeFrameIsNothing) {
  write();
  put("");
  expect_error(folder_, Code::kCorrupt, "no whole frame");
  put(std::string(kJournalMagic) + std::string("\1\0\0\0\0\0\0\0", 8) + "FFRM");
  expect_error(folder_, Code::kCorrupt, "20 bytes");
}

TEST_F(RecordingTest, DamageIsSaidInOneSentence) {
  write(/*sealed=*/false);
  EXPECT_THAT(Recording::open(folder_).value().damage(),
              testing::AllOf(HasSubstr("recorder was killed"), HasSubstr("written by then")));
  const std::string whole = bytes();
  put(whole + "FFRM");
  EXPECT_THAT(Recording::open(folder_).value().damage(),
              HasSubstr("recorder was killed: the last 4 bytes were being written"));
  put(whole + "half");
  EXPECT_THAT(
      Recording::open(folder_).value().damage(),
      testing::AllOf(HasSubstr("the last 4 bytes are damaged"), testing::Not(HasSubstr("killed"))));
  std::string damaged = whole;
  damaged[20] = static_cast<char>(damaged[20] ^ 1);
  put(damaged);
  EXPECT_THAT(Recording::open(folder_).value().damage(),
              testing::AllOf(HasSubstr("in 1 place;"), HasSubstr("2 whole frames"),
                             HasSubstr("recorder was killed")));
}

TEST_F(RecordingTest, BytesAfterTheEndAreSaid) {
  write();
  put(bytes() + "more");
  EXPECT_THAT(Recording::open(folder_).value().damage(), HasSubstr("4 bytes after the end"));
}

TEST_F(RecordingTest, ARunStillBeingRecordedIsReadSoFar) {
  fs::create_directories(folder_);
  auto journal = JournalFile::create(folder_ + "/journal");
  ASSERT_TRUE(journal.ok());
  const auto frame = FrameEncoder().encode(names_.dictionary(), frames_[1]);
  ASSERT_TRUE(journal.value().append(frame.value()).ok());
  const auto recording = Recording::open(folder_);
  ASSERT_TRUE(recording.ok());
  EXPECT_TRUE(recording.value().in_use());
  EXPECT_THAT(recording.value().damage(), HasSubstr("still being recorded"));
  EXPECT_EQ(collect(recording.value(), kAllTables).value()->rows.of<Mark>().size(), 1U);
}

TEST_F(RecordingTest, CollectsAndKeepsTheLastOfEachKey) {
  write();
  const auto all = collect(Recording::open(folder_).value(), kAllTables);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all.value()->rows.of<Process>().size(), 1U);
  EXPECT_EQ(all.value()->rows.of<Process>()[0].user_ns, Maybe(2));
  ASSERT_EQ(all.value()->rows.of<Mark>().size(), 3U);
  EXPECT_EQ(all.value()->text(all.value()->rows.of<Mark>()[2].text), "mark");
  const auto marks = collect(Recording::open(folder_).value(), tables_of<Mark>());
  EXPECT_EQ(marks.value()->rows.present(), tables_of<Mark>());
}

TEST_F(RecordingTest, ReadPassesByFramesWithoutTheTables) {
  frames_[1] = Rows();
  frames_[1].of<Gauge>().push_back({1, {}, {}, {}, 2.5});
  write();
  const auto recording = Recording::open(folder_);
  int batches = 0;
  const auto count = [&](const Batch&) {
    ++batches;
    return Status();
  };
  ASSERT_TRUE(recording.value().read(tables_of<Gauge>(), count).ok());
  EXPECT_EQ(batches, 1);
  const auto stop = [](const Batch&) -> Status { return Error{Code::kIo, "enough"}; };
  const Status stopped = recording.value().read(kAllTables, stop);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().message, "enough");
}

// The journal is the truth while it stands: a half-written table beside it is not looked at.
TEST_F(RecordingTest, TablesBesideAJournalDoNotCount) {
  write();
  ASSERT_TRUE(write_file(folder_ + "/runs.parquet", "half a table").ok());
  EXPECT_EQ(Recording::open(folder_).value().form(), Recording::Form::kJournal);
  fs::remove(folder_ + "/journal");
  EXPECT_EQ(Recording::open(folder_).value().form(), Recording::Form::kTables);
  EXPECT_EQ(Recording::open(folder_).value().damage(), "");
}

}  // namespace
}  // namespace fathom
