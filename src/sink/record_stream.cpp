// SPDX-License-Identifier: Apache-2.0
#include "sink/record_stream.h"

namespace fathom {
namespace {

// Cuts every list in two. A single record that does not fit is given up by the caller.
std::pair<Rows, Rows> halves(const Rows& rows) {
  std::pair<Rows, Rows> parts;
  parts.first.buckets = rows.buckets;
  parts.second.buckets = rows.buckets;
  for_each_table([&]<class Record>() {
    const std::vector<Record>& list = rows.of<Record>();
    const auto middle = list.begin() + static_cast<ptrdiff_t>((list.size() + 1) / 2);
    parts.first.of<Record>().assign(list.begin(), middle);
    parts.second.of<Record>().assign(middle, list.end());
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
  const auto [first, second] = halves(rows);
  if (second.count() == 0) {  // cannot be cut further
    too_large_ += count;
    return;
  }
  send(first);
  send(second);
}

void RecordStream::flush() {
  send(rows_);
  records_ += pending_;
  pending_ = 0;
  rows_.clear();
}

SinkReport RecordStream::report() const {
  SinkReport report = sink_.report();
  report.dropped_records += too_large_;
  return report;
}

Status RecordStream::close() {
  flush();
  auto last = encoder_.encode(names_.dictionary(), Rows{}, kSealFlag);
  CHECK(last.ok());
  return sink_.close(std::move(last).value());
}

}  // namespace fathom
