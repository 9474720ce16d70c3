// SPDX-License-Identifier: Apache-2.0
#include "spool/spool_records.h"

namespace fathom {

template <class Record>
void SpoolRecords::set_origin(Record& record, const SpoolOrigin& origin) {
  record.thread = names_.thread(origin.pid, origin.tid);
  record.layer = names_.text(layer_);
  record.name = names_.text(origin.call);
  if (!origin.file.empty()) record.file = names_.text(origin.file);
}

void SpoolRecords::on_call(const SpoolCall& call) {
  Span span;
  span.start_ns = call.start_ns;
  span.duration_ns = call.duration_ns;
  set_origin(span, call.origin);
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
  set_origin(counter, cell.origin);
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
