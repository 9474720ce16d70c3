// SPDX-License-Identifier: Apache-2.0
// What probes write to: interns, collects records and hands them to a sink as frames. Belongs to
// the recorder's thread. Adding a record costs a copy; encoding happens once per batch.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "record/batch.h"
#include "record/frame.h"
#include "record/sample_order.h"
#include "sink/sink.h"

namespace fathom {

class RecordStream {
 public:
  // Flushes by itself at so many. Every frame carries the names and stacks it uses, so larger ones
  // cost fewer bytes a record, and as much memory as 32,768 records take.
  static constexpr int64_t kBatchRecords = 32'768;

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
  // Sees what every frame will hold, before it is written.
  using Observer = std::function<void(const Rows& rows, const Dictionary& names)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

  // A long run meets strings without end (the arguments of a million processes). Whoever keeps ids
  // says here how they are carried over to a fresh interner; renew_names() makes one when the old
  // has grown large. Call it between flush() and the next string(), where nobody else holds an id.
  using CarryOver = std::function<void(const Dictionary& from, Interner& to)>;
  void keep_ids(CarryOver carry_over) { carry_overs_.push_back(std::move(carry_over)); }
  void renew_names(size_t most_bytes = kMostNameBytes);
  // How often that has made one: ids from before mean nothing any more.
  [[nodiscard]] int64_t renewals() const { return renewals_; }
  // The same, and waits until the sink has written or lost everything: report() is then whole.
  void settle();
  // Ends the stream: what is pending, in one frame with the seal. Sinks keep room for it, so flush
  // before what should survive a full disk.
  Status close();

  [[nodiscard]] int64_t records() const { return records_ + pending_; }
  [[nodiscard]] SinkReport report() const;

 private:
  static constexpr size_t kMostNameBytes = size_t{8} << 20;
  void send(const Rows& rows);

  Sink& sink_;
  Interner names_;
  std::vector<CarryOver> carry_overs_;
  Observer observer_;
  Rows rows_;
  SampleOrder order_;
  FrameEncoder encoder_;
  int64_t pending_ = 0;
  int64_t records_ = 0;
  int64_t too_large_ = 0;
  int64_t renewals_ = 0;
};

}  // namespace fathom
