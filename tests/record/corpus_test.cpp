// SPDX-License-Identifier: Apache-2.0
// The seeds of the fuzzers are real: small frames, their payloads, and journals. Make them again
// with
//   FATHOM_UPDATE=1 build/dev/tests/test_record --gtest_filter='CorpusTest.*'
#include <cstdlib>

#include "record/frame_packer.h"
#include "record/random_rows.h"
#include "record/sample_recording.h"
#include "support/folders.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

const std::string kCorpus = test_data() + "/corpus";

std::string journal_of(const std::vector<std::string>& frames) {
  std::string bytes = std::string(kJournalMagic) + std::string("\1\0\0\0\0\0\0\0", 8);
  for (const std::string& frame : frames) bytes += frame;
  return bytes;
}

void put(const std::string& name, std::string_view bytes) {
  fs::create_directories(fs::path(kCorpus + "/" + name).parent_path());
  ASSERT_TRUE(write_file(kCorpus + "/" + name, bytes).ok());
}

// A frame with one table only, or with all of them.
std::string seed_frame(size_t table) {
  RandomRows random(100 + table);
  random.longest_text = 40;
  size_t number = 0;
  for_each_table([&]<class Record>() {
    if (table == kTableCount || table == number) random.add<Record>(table == kTableCount ? 1 : 3);
    ++number;
  });
  return FrameEncoder().encode(random.names.dictionary(), random.rows).value();
}

void make_seeds() {
  std::vector<std::string> frames;
  for (size_t table = 0; table <= kTableCount; ++table) {
    frames.push_back(seed_frame(table));
    const std::vector<char> payload = decode_frame(frames.back()).value().bytes;
    const std::string name = "frame_fuzz/table_" + std::to_string(table);
    put(name + ".payload", {payload.data(), payload.size()});
    if (table % 4 == 0) put(name + ".frame", frames.back());
  }
  const std::string seal = FrameEncoder().encode(Dictionary(), Rows(), kSealFlag).value();
  put("journal_fuzz/empty", {});
  put("journal_fuzz/header", journal_of({}));
  put("journal_fuzz/sealed", journal_of({frames[10], frames[7], seal}));
  put("journal_fuzz/torn", journal_of({frames[9], frames[10]}).substr(0, 200));
  std::string damaged = journal_of({frames[10], frames[10], frames[9], seal});
  damaged[100] = static_cast<char>(damaged[100] ^ 4);
  put("journal_fuzz/damaged", damaged);
}

TEST(CorpusTest, SeedsAreWhatTheDecoderTakes) {
  if (std::getenv("FATHOM_UPDATE") != nullptr) make_seeds();
  size_t frames = 0;
  for (const auto& entry : fs::directory_iterator(kCorpus + "/frame_fuzz")) {
    const std::string bytes = read_file(entry.path()).value();
    const std::string frame = entry.path().extension() == ".frame"
                                  ? bytes
                                  : FramePacker().pack(bytes, {}, kAllTables, 0).value();
    const auto batch = decode_frame(frame);
    EXPECT_TRUE(batch.ok()) << entry.path() << ": " << batch.error().message;
    EXPECT_LT(bytes.size(), 100U << 10);
    ++frames;
  }
  EXPECT_GT(frames, kTableCount);
  for (const auto& entry : fs::directory_iterator(kCorpus + "/journal_fuzz")) {
    EXPECT_TRUE(JournalReader::open(entry.path()).ok()) << entry.path();
  }
}

}  // namespace
}  // namespace fathom
