// SPDX-License-Identifier: Apache-2.0
#include "spool/spool_records.h"

#include "base/text.h"

namespace fathom {

StringId SpoolRecords::file_of(const SpoolOrigin& origin) {
  return origin.file.empty() ? StringId::kNone : out_.string(printable(origin.file));
}

void SpoolRecords::on_call(const SpoolCall& call) {
  Span span;
  span.start_ns = call.start_ns;
  span.duration_ns = call.duration_ns;
  span.thread = out_.names().thread(call.origin.pid, call.origin.tid);
  span.layer = out_.string(layer_);
  span.name = out_.string(printable(call.origin.call));
  span.file = file_of(call.origin);
  if (call.has_bytes) span.bytes = call.failed ? 0 : call.value;
  if (call.abandoned) {
    const DetailItem item{out_.string("ended"), out_.string("abandoned")};
    span.detail = out_.names().detail({&item, 1});
  } else {
    span.result = call.failed ? -int64_t{call.error} : call.value;
  }
  ++calls_;
  out_.add(span);
}

void SpoolRecords::on_cell(const SpoolCell& cell) {
  Counter counter;
  counter.slice_ns = cell.slice_ns;
  counter.slice_length_ns = cell.slice_length_ns;
  counter.thread = out_.names().thread(cell.origin.pid, cell.origin.tid);
  counter.layer = out_.string(layer_);
  counter.name = out_.string(printable(cell.origin.call));
  counter.file = file_of(cell.origin);
  counter.count = cell.count;
  counter.errors = cell.errors;
  if (cell.has_bytes) counter.bytes = cell.bytes;
  if (cell.has_times) {
    counter.time_ns = cell.time_ns;
    counter.self_time_ns = cell.self_ns;
    counter.latency = out_.histogram(cell.latency);
  }
  calls_ += cell.count;
  out_.add(counter);
}

}  // namespace fathom
