// SPDX-License-Identifier: Apache-2.0
// Single records of a spool, for SpoolReader.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/saturate.h"
#include "spool/spool_reader.h"

namespace fathom {
namespace {

template <class Record>
bool read_whole(const SpoolRecord& head, const uint8_t* from, Record& to) {
  if (head.words * 8U != sizeof to) return false;
  std::memcpy(&to, from, sizeof to);
  return true;
}

SpoolCall call_from(const SpoolRecord& head, uint64_t start, uint64_t ticks, uint64_t self,
                    int64_t value, const TickClock& clock) {
  SpoolCall call;
  call.has_bytes = (head.flags & kCallHasBytes) != 0;
  call.failed = (head.flags & kCallFailed) != 0;
  call.abandoned = (head.flags & kCallAbandoned) != 0;
  call.start_ns = clock.ns_at(start);
  call.duration_ns = clock.ns_of(ticks);
  call.self_ns = std::min(clock.ns_of(self), call.duration_ns);
  call.value = call.has_bytes ? std::max<int64_t>(value, 0) : value;
  return call;
}

}  // namespace

void SpoolReader::deliver(Area& area, const SpoolRecord& head, const uint8_t* record,
                          const TickClock& clock, SpoolListener& listener) {
  switch (head.kind) {
    case kSpoolThread: {
      SpoolThreadRecord thread{};
      if (!read_whole(head, record, thread)) break;
      area.pid = thread.pid;
      area.tid = thread.tid;
      return;
    }
    case kSpoolCall: {
      SpoolCallRecord from{};
      if (!read_whole(head, record, from)) break;
      SpoolCall call =
          call_from(head, from.start_ticks, from.ticks, from.self_ticks, from.value, clock);
      call.error = from.error;
      if (fill_origin(area, head, from.file, call.origin)) listener.on_call(call);
      return;
    }
    case kSpoolShortCall: {
      SpoolShortCallRecord from{};
      if (!read_whole(head, record, from)) break;
      SpoolCall call = call_from(head, from.start_ticks, from.ticks, from.ticks, from.value, clock);
      if (fill_origin(area, head, from.file, call.origin)) listener.on_call(call);
      return;
    }
    case kSpoolSmallCall:
      if (deliver_small(area, head, record, clock, listener)) return;
      break;
    case kSpoolCell:
      if (deliver_cell(area, head, record, clock, listener)) return;
      break;
    case kSpoolHole:
      return;
    default:
      break;
  }
  ++damaged_;
}

bool SpoolReader::deliver_small(const Area& area, const SpoolRecord& head, const uint8_t* record,
                                const TickClock& clock, SpoolListener& listener) {
  SpoolSmallCallRecord from{};
  if (!read_whole(head, record, from)) return false;
  const auto bits = [&from](int at, int count) {
    return from.rest >> at & ((uint64_t{1} << count) - 1);
  };
  SpoolRecord same = head;
  same.call = from.call & ((1U << kSmallCallBits) - 1);
  same.flags = static_cast<uint16_t>(from.call >> kSmallCallBits);
  const uint64_t ticks = bits(kSmallFileBits, kSmallTicksBits);
  const auto value = static_cast<int64_t>(bits(kSmallFileBits + kSmallTicksBits, kSmallValueBits));
  SpoolCall call = call_from(same, area.base_ticks + from.start_ticks, ticks, ticks, value, clock);
  const auto file = static_cast<uint32_t>(bits(0, kSmallFileBits));
  if (fill_origin(area, same, file, call.origin)) listener.on_call(call);
  return true;
}

bool SpoolReader::deliver_cell(const Area& area, const SpoolRecord& head, const uint8_t* record,
                               const TickClock& clock, SpoolListener& listener) {
  SpoolCellRecord from{};
  if (!read_whole(head, record, from)) return false;
  SpoolCell cell;
  cell.slice_length_ns = count_or_none(header_.interval_ns);
  const bool too_late =
      __builtin_mul_overflow(cell.slice_length_ns, int64_t{from.slice}, &cell.slice_ns) ||
      __builtin_add_overflow(cell.slice_ns, count_or_none(header_.slice_base_ns), &cell.slice_ns);
  if (too_late || from.count > INT64_MAX) return false;
  if (from.count == 0) return true;  // its first call never got that far
  cell.count = count_or_none(from.count);
  cell.time_ns = clock.ns_of(from.ticks);
  cell.self_ns = std::min(clock.ns_of(from.self_ticks), cell.time_ns);
  cell.bytes = count_or_none(from.bytes);
  cell.errors = count_or_none(from.errors);
  cell.has_bytes = (head.flags & kCallHasBytes) != 0;
  cell.has_times = (header_.flags & kSpoolCount) == 0 && (head.flags & kCallCounted) == 0;
  std::array<int64_t, kSpoolBuckets> latency{};
  size_t used = 0;
  for (size_t i = 0; i < latency.size(); ++i) {
    latency[i] = from.latency[i];
    if (latency[i] != 0) used = i + 1;
  }
  cell.latency = std::span<const int64_t>(latency).first(used);
  if (fill_origin(area, head, from.file, cell.origin)) listener.on_cell(cell);
  return true;
}

}  // namespace fathom
