// SPDX-License-Identifier: Apache-2.0
#include "sink/record_stream.h"

#include <algorithm>

namespace fathom {
namespace {

// The first half of the records, table by table, and the rest.
std::pair<Rows, Rows> halves(const Rows& rows) {
  std::pair<Rows, Rows> parts;
  parts.first.buckets = rows.buckets;
  parts.second.buckets = rows.buckets;
  size_t left = rows.count() / 2;
  for_each_table([&]<class Record>() {
    const std::vector<Record>& list = rows.of<Record>();
    const size_t taken = std::min(left, list.size());
    const auto middle = list.begin() + static_cast<ptrdiff_t>(taken);
    parts.first.of<Record>().assign(list.begin(), middle);
    parts.second.of<Record>().assign(middle, list.end());
    left -= taken;
  });
  return parts;
}

}  // namespace

Histogram RecordStream::histogram(std::span<const int64_t> values) {
  const Histogram range{static_cast<uint32_t>(rows_.buckets.size()),
                        static_cast<uint32_t>(values.size())};
  rows_.buckets.insert(rows_.buckets.end(), values.begin(), values.end());
  return range;
}

void RecordStream::send(const Rows& rows) {
  const auto count = static_cast<int64_t>(rows.count());
  if (count == 0) return;
  auto frame = encoder_.encode(names_.dictionary(), rows);
  if (frame.ok()) {
    sink_.write(std::move(frame).value(), count);
    return;
  }
  if (count == 1) {
    ++too_large_;
    return;
  }
  const auto [first, second] = halves(rows);
  send(first);
  send(second);
}

void RecordStream::renew_names(size_t most_bytes) {
  if (names_.bytes() <= most_bytes || pending_ > 0) return;
  Interner fresh;
  for (const CarryOver& carry_over : carry_overs_) carry_over(names_.dictionary(), fresh);
  names_ = std::move(fresh);
  ++renewals_;
}

void RecordStream::flush() {
  if (observer_ && pending_ > 0) observer_(rows_, names_.dictionary());
  order_.apply(rows_.of<Sample>());
  send(rows_);
  records_ += pending_;
  pending_ = 0;
  rows_.clear();
}

void RecordStream::settle() {
  flush();
  sink_.settle();
}

SinkReport RecordStream::report() const {
  SinkReport report = sink_.report();
  report.dropped_records += too_large_;
  if (too_large_ > 0 && !report.error) {
    report.error = Error{Code::kInvalid, "a record is too large for the journal"};
  }
  return report;
}

Status RecordStream::close() {
  auto last = encoder_.encode(names_.dictionary(), rows_, kSealFlag);
  if (!last.ok()) {  // too much for one frame
    flush();
    last = encoder_.encode(names_.dictionary(), Rows{}, kSealFlag);
  }
  CHECK(last.ok());
  return sink_.close(std::move(last).value());
}

}  // namespace fathom
