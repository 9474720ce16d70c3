// SPDX-License-Identifier: Apache-2.0
#include "probe/io/call_rings.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/bpf.h"
#include "wire/calls.h"

namespace fathom {
namespace {

constexpr size_t kWakeParts = 8;  // of a ring that is full so far its reader is woken
constexpr size_t kMostWaiting = 1 << 16;

uint16_t kind_of(std::span<const std::byte> record) {
  uint16_t kind = 0;
  if (record.size() >= offsetof(WireTracedBatch, calls))
    std::memcpy(&kind, record.data(), sizeof kind);
  return kind;
}

}  // namespace

Status CallRings::begin() {
  const auto page_bytes = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  const Fd any(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "fathom_any", 0, 0, page_bytes, nullptr));
  if (!any.valid()) return bpf_error("make a ring for calls", errno);
  LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = static_cast<uint32_t>(any.get()));
  map_ = Fd(bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rings", sizeof(uint32_t), sizeof(uint32_t),
                           kWireCallCpus, &options));
  if (!map_.valid()) return bpf_error("make the map of rings for calls", errno);
  placing_ = std::async(std::launch::async,
                        [this] { return made_.make(map_.get(), "fathom_calls", "calls"); });
  return {};
}

Status CallRings::open(int names) {
  TRY_ASSIGN(rings_, placing_.get());
  TRY_ASSIGN(BpfRing ring, BpfRing::map(names, kWireNameRingBytes));
  names_ = std::make_unique<BpfRing>(std::move(ring));
  return {};
}

void CallRings::drain(KernelRecords& records, bool last) {
  for (std::span<const std::byte> name = names_->peek(); !name.empty(); name = names_->peek()) {
    records.files().add(name);
    names_->pop();
  }
  std::erase_if(waiting_,
                [&](const std::vector<std::byte>& record) { return records.take(record, last); });
  for (BpfRing& ring : rings_) {
    for (std::span<const std::byte> record = ring.peek(); !record.empty(); record = ring.peek()) {
      if (kind_of(record) == kWireTracedCalls)
        take_batch(records, record, last);
      else
        take(records, record, last);
      ring.pop();
    }
  }
}

void CallRings::take(KernelRecords& records, std::span<const std::byte> record, bool last) {
  if (!records.take(record, last || waiting_.size() >= kMostWaiting))
    waiting_.emplace_back(record.begin(), record.end());
}

// Each by itself: some may wait for a name.
void CallRings::take_batch(KernelRecords& records, std::span<const std::byte> record, bool last) {
  WireTracedBatch batch;
  std::memcpy(&batch, record.data(), std::min(record.size(), sizeof batch));
  const size_t whole = offsetof(WireTracedBatch, calls) + batch.count * sizeof(WireTraced);
  // What is too short for what it says is left to be counted as damaged.
  if (batch.count > kWireBatch || record.size() != whole) return take(records, record, last);
  WireTracedCall call{};
  call.head.kind = kWireTracedCall;
  call.head.pid = batch.pid;
  call.head.tid = batch.tid;
  for (size_t i = 0; i < batch.count; ++i) {
    const WireTraced& from = batch.calls[i];
    call.head.function = from.function;
    call.head.file = from.file;
    call.start_ns = from.start_ns;
    call.duration_ns = from.duration_ns;
    call.self_ns = from.self_ns;
    call.result = from.result;
    call.offset = from.offset;
    take(records, std::as_bytes(std::span(&call, 1)), last);
  }
}

bool CallRings::empty() const {
  return std::all_of(rings_.begin(), rings_.end(),
                     [](const BpfRing& ring) { return ring.empty(); });
}

uint64_t CallRings::wake_bytes() const { return made_.ring_bytes() / kWakeParts; }

int64_t CallRings::buffer_bytes() const {
  return static_cast<int64_t>(made_.all_bytes() + rings_.size() * sizeof(WireNameScratch)) +
         kWireNameRingBytes;
}

}  // namespace fathom
