// SPDX-License-Identifier: Apache-2.0
// Recordings for tests: a scratch folder, a journal of given rows, and the text of every row of a
// recording, which two recordings can be compared by.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/duckdb_api.h"
#include "record/exact_text.h"
#include "record/frame.h"
#include "record/journal.h"
#include "record/merge.h"
#include "record/recording.h"
#include "record/tables.h"

namespace fathom {

#define SKIP_WITHOUT_DUCKDB()                                        \
  if (const auto api = duck_api(); !api.ok()) {                      \
    GTEST_SKIP() << api.error().message << "\n" << api.error().hint; \
  }

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fathom_test.XXXXXX").string();
    path_ = mkdtemp(pattern.data()) == nullptr ? "" : pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Writes each of `frames` into FOLDER/journal.
inline void write_journal(const std::string& folder, const Interner& names,
                          const std::vector<Rows>& frames, bool sealed = true) {
  std::filesystem::create_directories(folder);
  auto journal = JournalFile::create(folder + "/" + kJournalName);
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  FrameEncoder encoder;
  for (size_t i = 0; i < frames.size(); ++i) {
    const bool last = sealed && i + 1 == frames.size();
    const auto frame = encoder.encode(names.dictionary(), frames[i], last ? kSealFlag : 0);
    ASSERT_TRUE(frame.ok()) << frame.error().message;
    ASSERT_TRUE(journal.value().append(frame.value(), last).ok());
  }
  ASSERT_TRUE(journal.value().close().ok());
}

// All rows of a recording as text, keyed ones merged, sorted: rows of a table have no order.
inline std::vector<std::string> all_rows(const Recording& recording) {
  std::vector<std::string> lines;
  const auto collected = collect(recording, kAllTables);
  EXPECT_TRUE(collected.ok()) << collected.error().message;
  if (!collected.ok()) return lines;
  lines = exact_lines(collected.value()->names.dictionary(), collected.value()->rows);
  std::sort(lines.begin(), lines.end());
  return lines;
}

inline std::vector<std::string> all_rows(const std::string& folder) {
  const auto recording = Recording::open(folder);
  EXPECT_TRUE(recording.ok()) << recording.error().message;
  return recording.ok() ? all_rows(recording.value()) : std::vector<std::string>();
}

}  // namespace fathom
