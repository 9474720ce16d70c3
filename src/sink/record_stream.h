// SPDX-License-Identifier: Apache-2.0
// What probes write to: interns, collects records and hands them to a sink as frames. Belongs to
// the recorder's thread. Adding a record costs a copy; encoding happens once per batch.
#pragma once

#include <string>
#include <string_view>

#include "record/batch.h"
#include "record/frame.h"
#include "sink/sink.h"

namespace fathom {

class RecordStream {
 public:
  explicit RecordStream(Sink& sink) : sink_(sink) {}

  Interner& names() { return names_; }
  StringId string(std::string_view text) { return names_.string(text); }

  template <class Record>
  void add(const Record& record) {
    rows_.of<Record>().push_back(record);
    if (++pending_ >= kBatchRecords) flush();
  }
  // Keeps `values` for a Counter's histogram; add the counter next.
  Histogram histogram(std::span<const int64_t> values);

  void flush();
  // Ends the stream: what is pending, in one frame with the seal. Sinks keep room for it, so flush
  // before what should survive a full disk.
  Status close();

  [[nodiscard]] int64_t records() const { return records_ + pending_; }
  [[nodiscard]] SinkReport report() const;

 private:
  static constexpr int64_t kBatchRecords = 8192;
  void send(const Rows& rows);

  Sink& sink_;
  Interner names_;
  Rows rows_;
  FrameEncoder encoder_;
  int64_t pending_ = 0;
  int64_t records_ = 0;
  int64_t too_large_ = 0;
};

}  // namespace fathom
