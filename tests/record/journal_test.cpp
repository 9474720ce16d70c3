// SPDX-License-Identifier: Apache-2.0
#include "record/journal.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "base/crc32c.h"
#include "record/random_rows.h"
#include "record/sample_recording.h"

namespace fathom {
namespace {

// Three frames of different sizes and a seal.
class JournalTest : public testing::Test {
 protected:
  JournalTest() : path_(scratch_.path() + "/journal") {
    RandomRows random(21);
    FrameEncoder encoder;
    for (size_t i = 0; i < 3; ++i) {
      random.rows.clear();
      random.add<Span>(1 + 3 * i);
      random.add<Mark>(1);
      frames_.push_back(encoder.encode(random.names.dictionary(), random.rows).value());
      lines_.push_back(exact_lines(random.names.dictionary(), random.rows));
    }
    frames_.push_back(encoder.encode(Dictionary(), Rows(), kSealFlag).value());
    lines_.emplace_back();
    bytes_ = std::string(kJournalMagic) + std::string("\1\0\0\0\0\0\0\0", 8);
    for (const std::string& frame : frames_) {
      bytes_ += frame;
      ends_.push_back(bytes_.size());
    }
  }

  JournalReader reader(std::string_view bytes) {
    EXPECT_TRUE(write_file(path_, bytes).ok());
    auto opened = JournalReader::open(path_);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return std::move(opened).value();
  }
  // That `journal` holds exactly these of frames_, readable.
  void expect_frames(const JournalReader& journal, const std::vector<size_t>& wanted) {
    ASSERT_EQ(journal.entries().size(), wanted.size());
    EXPECT_EQ(journal.health().frames, static_cast<int64_t>(wanted.size()));
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto batch = journal.read(journal.entries()[i]);
      ASSERT_TRUE(batch.ok()) << batch.error().message;
      EXPECT_EQ(exact_lines(batch.value().dictionary, batch.value().rows), lines_[wanted[i]]);
    }
  }

  ScratchFolder scratch_;
  std::string path_, bytes_;
  std::vector<std::string> frames_;
  std::vector<std::vector<std::string>> lines_;
  std::vector<size_t> ends_;  // of each frame in bytes_
};

// A frame whose checksum is right and whose payload is not zstd.
std::string senseless_frame(TableSet tables) {
  const std::string payload = "neither zstd nor anything else";
  const auto number = [](uint32_t value) {
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  const std::string start = "FFRM" + number(static_cast<uint32_t>(payload.size())) + number(100) +
                            number(tables) + number(0);
  return start + number(crc32c(payload, crc32c(start))) + payload;
}

TEST_F(JournalTest, AFrameWithoutSenseIsSteppedOverAndCounted) {
  const std::string senseless = senseless_frame(tables_of<Span, Mark>());
  std::string bytes = bytes_;
  bytes.insert(ends_[0], senseless);
  const JournalReader journal = reader(bytes);
  ASSERT_EQ(journal.entries().size(), 5U);
  EXPECT_EQ(journal.health().damaged_places, 0) << "found without being read?";
  size_t spans = 0;
  for (int times = 0; times < 2; ++times) {
    for (const JournalReader::Entry& entry : journal.entries()) {
      const auto batch = journal.read(entry);
      ASSERT_TRUE(batch.ok()) << batch.error().message;
      spans += batch.value().rows.of<Span>().size();
    }
  }
  EXPECT_EQ(spans, 2U * (1 + 4 + 7));
  EXPECT_EQ(journal.health().damaged_places, 1);
  EXPECT_EQ(journal.health().damaged_bytes, static_cast<int64_t>(senseless.size()));
  EXPECT_EQ(journal.health().frames, 4);
  EXPECT_TRUE(journal.health().sealed);
}

TEST_F(JournalTest, AFileThatChangesUnderTheReaderIsAnError) {
  const JournalReader journal = reader(bytes_);
  std::string bytes = bytes_;
  bytes[ends_[1] - 1] = static_cast<char>(bytes[ends_[1] - 1] ^ 1);
  ASSERT_TRUE(write_file(path_, bytes).ok());
  EXPECT_EQ(journal.read(journal.entries()[1]).error().code, Code::kCorrupt);
  EXPECT_TRUE(journal.read(journal.entries()[2]).ok());
}

TEST_F(JournalTest, WritesWhatTheFormatSays) {
  auto journal = JournalFile::create(path_);
  ASSERT_TRUE(journal.ok());
  for (size_t i = 0; i < frames_.size(); ++i) {
    ASSERT_TRUE(journal.value().append(frames_[i], i + 1 == frames_.size()).ok());
    EXPECT_EQ(journal.value().size_bytes(), static_cast<int64_t>(ends_[i]));
  }
  ASSERT_TRUE(journal.value().sync().ok());
  ASSERT_TRUE(journal.value().close().ok());
  EXPECT_EQ(read_file(path_).value(), bytes_);
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_LT(info.st_blocks * 512, 64 << 10) << "the reserve was not given back";
}

TEST_F(JournalTest, AWholeJournalIsSealedAndHealthy) {
  const JournalReader journal = reader(bytes_);
  expect_frames(journal, {0, 1, 2, 3});
  const JournalHealth& health = journal.health();
  EXPECT_TRUE(health.sealed);
  EXPECT_EQ(health.torn_bytes + health.damaged_bytes + health.damaged_places, 0);
  EXPECT_EQ(health.file_bytes, static_cast<int64_t>(bytes_.size()));
}

TEST_F(JournalTest, TornAtEveryByteKeepsAllWholeFramesBeforeIt) {
  for (size_t size = 0; size <= bytes_.size(); ++size) {
    SCOPED_TRACE(size);
    const JournalReader journal = reader(std::string_view(bytes_).substr(0, size));
    std::vector<size_t> whole;
    size_t end = std::min(size, kJournalHeaderBytes);
    for (size_t i = 0; i < ends_.size() && ends_[i] <= size; ++i) {
      whole.push_back(i);
      end = ends_[i];
    }
    expect_frames(journal, whole);
    if (HasFatalFailure()) return;
    const JournalHealth& health = journal.health();
    ASSERT_EQ(health.torn_bytes, static_cast<int64_t>(size - end));
    ASSERT_EQ(health.damaged_bytes, 0);
    ASSERT_EQ(health.ends_in_frame, size > end);
    ASSERT_EQ(health.sealed, size == bytes_.size());
  }
}

TEST_F(JournalTest, DamageInTheMiddleCostsOneFrame) {
  for (size_t at = ends_[0]; at < ends_[1]; ++at) {
    SCOPED_TRACE(at);
    std::string bytes = bytes_;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    const JournalReader journal = reader(bytes);
    expect_frames(journal, {0, 2, 3});
    if (HasFatalFailure()) return;
    ASSERT_EQ(journal.health().damaged_places, 1);
    ASSERT_EQ(journal.health().damaged_frames, 1);
    ASSERT_EQ(journal.health().damaged_bytes, static_cast<int64_t>(ends_[1] - ends_[0]));
    ASSERT_EQ(journal.health().torn_bytes, 0);
    ASSERT_TRUE(journal.health().sealed);
  }
}

TEST_F(JournalTest, BytesThatAreMissingOrTooManyCostNoOtherFrame) {
  std::string bytes = bytes_;
  bytes.erase(ends_[0] + 30, 5);
  expect_frames(reader(bytes), {0, 2, 3});
  bytes = bytes_;
  bytes.insert(ends_[1], "FFRM and something that is no frame FFR");
  const JournalReader journal = reader(bytes);
  expect_frames(journal, {0, 1, 2, 3});
  EXPECT_EQ(journal.health().damaged_places, 1);
  EXPECT_EQ(journal.health().damaged_bytes, 39);
}

// A magic that lies across two of the pieces in which damage is searched.
TEST_F(JournalTest, AFrameAfterMuchDamageIsFound) {
  for (size_t around = 0; around < 6; ++around) {
    std::string bytes = bytes_;
    bytes.insert(ends_[0], std::string((1 << 20) - 2 + around, 'F'));
    const JournalReader journal = reader(bytes);
    expect_frames(journal, {0, 1, 2, 3});
    EXPECT_EQ(journal.health().damaged_places, 1);
  }
}

TEST_F(JournalTest, ADamagedEndIsNotTakenForOneThatWasBeingWritten) {
  std::string bytes = bytes_;
  bytes[bytes.size() - 1] = static_cast<char>(bytes.back() ^ 0x20);  // in the seal
  const JournalReader journal = reader(bytes);
  expect_frames(journal, {0, 1, 2});
  EXPECT_FALSE(journal.health().sealed);
  EXPECT_EQ(journal.health().torn_bytes, static_cast<int64_t>(ends_[3] - ends_[2]));
  EXPECT_FALSE(journal.health().ends_in_frame);
}

TEST_F(JournalTest, BytesAfterTheSealAreTorn) {
  const JournalReader journal = reader(bytes_ + "more");
  expect_frames(journal, {0, 1, 2, 3});
  EXPECT_TRUE(journal.health().sealed);
  EXPECT_EQ(journal.health().torn_bytes, 4);
}

TEST_F(JournalTest, FilesThatAreNoJournal) {
  ASSERT_TRUE(write_file(path_, "PAR1 something else entirely").ok());
  auto opened = JournalReader::open(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::kCorrupt);
  EXPECT_FALSE(opened.error().hint.empty());
  opened = JournalReader::open(scratch_.path());
  ASSERT_FALSE(opened.ok());
  opened = JournalReader::open(scratch_.path() + "/absent");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::kNotFound);
}

TEST_F(JournalTest, ANewerVersionIsRefused) {
  for (const size_t byte : {8U, 9U, 11U}) {
    std::string bytes = bytes_;
    bytes[byte] = static_cast<char>(bytes[byte] + 1);
    ASSERT_TRUE(write_file(path_, bytes).ok());
    const auto opened = JournalReader::open(path_);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, Code::kUnsupported);
  }
}

TEST_F(JournalTest, CreateDoesNotOverwrite) {
  ASSERT_TRUE(write_file(path_, "precious").ok());
  const auto journal = JournalFile::create(path_);
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.error().code, Code::kExists);
  EXPECT_EQ(read_file(path_).value(), "precious");
}

TEST_F(JournalTest, AnOpenJournalIsInUse) {
  EXPECT_FALSE(journal_in_use(path_));
  {
    auto journal = JournalFile::create(path_);
    ASSERT_TRUE(journal.ok());
    EXPECT_TRUE(journal_in_use(path_));
    // It can be read meanwhile.
    ASSERT_TRUE(journal.value().append(frames_[0]).ok());
    expect_frames(JournalReader::open(path_).value(), {0});
    EXPECT_TRUE(journal_in_use(path_));
  }
  EXPECT_FALSE(journal_in_use(path_));
}

// As on a file system without locks: flock(2) fails with ENOLCK in this process from now on.
void forbid_flock() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(code), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) std::exit(2);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) std::exit(3);
}

TEST_F(JournalTest, WithoutFileLocksItIsWrittenAndNobodyGuesses) {
  const auto without = [&] {
    forbid_flock();
    auto journal = JournalFile::create(path_);
    ASSERT_TRUE(journal.ok());
    ASSERT_TRUE(journal.value().append(frames_[0]).ok());
    EXPECT_EQ(journal_use(path_), JournalUse::kUnknown);
    const auto unsealed = Recording::open(scratch_.path());
    EXPECT_NE(unsealed.value().damage().find("or still writes"), std::string::npos);
    const Status converted = convert_journal(unsealed.value());
    ASSERT_FALSE(converted.ok());
    EXPECT_NE(converted.error().hint.find("file locks"), std::string::npos);
    ASSERT_TRUE(journal.value().append(frames_.back(), /*last=*/true).ok());
    ASSERT_TRUE(journal.value().close().ok());
    if (!duck_api().ok()) return;
    const Status sealed = convert_journal(Recording::open(scratch_.path()).value());
    EXPECT_TRUE(sealed.ok()) << sealed.error().message;
  };
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_EXIT((without(), std::exit(HasFailure() ? 1 : 0)), testing::ExitedWithCode(0), "");
}

// Appends until there is no space; the journal must end on a whole frame, and the seal still go in.
void expect_full_disk_is_survived(const std::string& path, const std::vector<std::string>& frames) {
  auto created = JournalFile::create(path);
  ASSERT_TRUE(created.ok()) << created.error().message;
  JournalFile& journal = created.value();
  const std::string& large = frames[0];
  int64_t written = 0;
  Status status;
  while ((status = journal.append(large)).ok()) ++written;
  EXPECT_EQ(status.error().code, Code::kNoSpace) << status.error().message;
  EXPECT_GT(written, 10);
  EXPECT_FALSE(journal.append(large).ok());
  ASSERT_TRUE(journal.append(frames.back(), /*last=*/true).ok());
  ASSERT_TRUE(journal.close().ok());
  const auto reader = JournalReader::open(path);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader.value().health().frames, written + 1);
  EXPECT_EQ(reader.value().health().torn_bytes, 0);
  EXPECT_TRUE(reader.value().health().sealed);
}

TEST_F(JournalTest, AFullDiskLeavesWholeFramesAndRoomForTheSeal) {
  const std::string place = scratch_.path() + "/small";
  std::filesystem::create_directory(place);
  if (mount("tmpfs", place.c_str(), "tmpfs", 0, "size=3m") != 0) {
    GTEST_SKIP() << "cannot mount a small tmpfs (needs root): " << std::strerror(errno);
  }
  expect_full_disk_is_survived(place + "/journal", frames_);
  umount2(place.c_str(), MNT_DETACH);
}

// In a child process, since the limit is the process's.
TEST_F(JournalTest, AFileSizeLimitLeavesWholeFramesAndRoomForTheSeal) {
  const auto limited = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) std::exit(2);
    expect_full_disk_is_survived(path_, frames_);
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_EXIT(limited(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fathom
