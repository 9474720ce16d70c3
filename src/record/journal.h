// SPDX-License-Identifier: Apache-2.0
// The journal: a file of frames, append only, safe to kill at any byte (docs/formats/journal.md).
// JournalFile writes one and belongs to one thread. JournalReader checks a whole file when it opens
// it, steps over damage to the next whole frame, and says what it could not save; its const members
// may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "record/frame.h"

namespace fathom {

constexpr std::string_view kJournalMagic = "FATHOMJ1";
constexpr size_t kJournalHeaderBytes = 16;
constexpr uint32_t kJournalVersion = 1;

class JournalFile {
 public:
  // Makes the file and holds a lock on it while it is open; kExists if there is one.
  static Result<JournalFile> create(const std::string& path);

  // Writes whole frames only: after an error the file ends where it ended before. kNoSpace may pass
  // when space is made. Some space is kept back for the last frame, which sets `last`.
  Status append(std::string_view frame, bool last = false);
  Status sync();
  Status close();
  [[nodiscard]] int64_t size_bytes() const { return size_bytes_; }

 private:
  JournalFile(Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Status reserve(int64_t end);
  void take_back();

  Fd file_;
  std::string path_;
  int64_t size_bytes_ = 0;
  int64_t reserved_bytes_ = 0;  // blocks held ahead of the end; -1: this file system cannot
  int64_t limit_bytes_ = 0;     // how large a file may become (ulimit -f)
};

// Whether a recorder still writes the journal at `path`. A file system may have no locks to tell
// by.
enum class JournalUse { kFree, kInUse, kUnknown };
JournalUse journal_use(const std::string& path);
inline bool journal_in_use(const std::string& path) {
  return journal_use(path) == JournalUse::kInUse;
}

struct JournalHealth {
  bool sealed = false;  // closed in order
  int64_t frames = 0;   // whole ones
  int64_t file_bytes = 0;
  int64_t torn_bytes = 0;  // after the last whole frame
  // They begin like a frame that the file ends within: it was being written when the recorder died.
  bool ends_in_frame = false;
  int64_t damaged_bytes = 0;   // before it: bytes that are no whole frame, or one without sense
  int64_t damaged_places = 0;  // runs of such bytes
  int64_t damaged_frames = 0;  // at least so many frames they were
};

class JournalReader {
 public:
  static Result<JournalReader> open(const std::string& path);

  struct Entry {
    int64_t offset;
    FrameHeader header;
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  // What is known so far: a frame whose checksum is right and whose content has no sense is found
  // when it is read.
  [[nodiscard]] JournalHealth health() const;
  // The batch is empty for such a frame. kCorrupt: the file has changed since it was opened.
  [[nodiscard]] Result<Batch> read(const Entry& entry, TableSet tables = kAllTables,
                                   Batch spare = {}) const;

 private:
  struct Senseless {
    std::mutex mutex;
    std::map<int64_t, int64_t> frames;  // offset -> bytes
  };

  JournalReader() = default;
  Status scan();
  Result<std::string> read_bytes(int64_t offset, size_t size) const;
  // The frame at `offset` if there is a whole one; else what was read for nothing is added to
  // `vain_bytes`.
  [[nodiscard]] Result<Entry> check(int64_t offset, int64_t& vain_bytes) const;
  [[nodiscard]] Result<int64_t> next_magic(int64_t offset) const;
  // Whether a header stands at `offset`, and whether the file ends within its frame.
  [[nodiscard]] bool begins_frame(int64_t offset) const;
  [[nodiscard]] bool is_cut_frame(int64_t offset) const;

  Fd file_;
  std::string path_;
  std::vector<Entry> entries_;
  JournalHealth health_;  // as it was opened
  std::unique_ptr<Senseless> senseless_ = std::make_unique<Senseless>();
};

}  // namespace fathom
