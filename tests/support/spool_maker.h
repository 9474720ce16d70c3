// SPDX-License-Identifier: Apache-2.0
// Makes spools byte by byte, right and wrong ones. Chunk 0 is an area, chunk 1 has names, the
// others are what a test makes of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "wire/spool.h"

namespace fathom {

class SpoolMaker {
 public:
  static constexpr uint32_t kChunks = 4;
  static constexpr uint32_t kFirst = sizeof(SpoolChunk) + sizeof(SpoolArea);

  SpoolMaker() : bytes_(kSpoolHeaderBytes + kChunks * size_t{kSpoolChunkBytes}) {
    SpoolHeader& head = header();
    std::memcpy(head.magic, SPOOL_MAGIC, sizeof head.magic);
    head.version = kSpoolVersion;
    head.header_bytes = kSpoolHeaderBytes;
    head.chunk_bytes = kSpoolChunkBytes;
    head.chunk_count = kChunks;
    head.interval_ns = 1'000'000'000;
    head.slice_base_ns = 5'000'000'000;
    head.ticks_per_ns_32 = uint64_t{1} << 32;
    head.names_offset = sizeof head;
    const std::string_view calls("read\0write\0", 11);
    std::memcpy(bytes_.data() + sizeof head, calls.data(), calls.size());
    head.call_count = 2;
    head.areas = 1;
    head.names = 2;
    head.next_chunk = 2;
    head.ready = 1;
    chunk(0).first = kFirst;
    chunk(1).first = chunk(1).used = sizeof(SpoolChunk);
    area().sealed = area().end = place(0, kFirst);
    area().pid = area().tid = 1;
    at_ = kFirst;
  }

  SpoolHeader& header() { return *reinterpret_cast<SpoolHeader*>(bytes_.data()); }
  SpoolChunk& chunk(uint32_t number) { return *reinterpret_cast<SpoolChunk*>(chunk_bytes(number)); }
  SpoolArea& area() { return *reinterpret_cast<SpoolArea*>(chunk_bytes(0) + sizeof(SpoolChunk)); }
  uint8_t* chunk_bytes(uint32_t number) {
    return bytes_.data() + kSpoolHeaderBytes + number * size_t{kSpoolChunkBytes};
  }
  static SpoolPlace place(uint32_t chunk, uint32_t offset) {
    return static_cast<uint64_t>(chunk) << 32 | offset;
  }

  void name(uint32_t file, std::string_view path) {
    SpoolName name{kSpoolNameMark, file, static_cast<uint32_t>(path.size()), 0};
    uint8_t* to = chunk_bytes(1) + chunk(1).used;
    std::memcpy(to, &name, sizeof name);
    std::memcpy(to + sizeof name, path.data(), path.size());
    chunk(1).used += static_cast<uint32_t>((sizeof name + path.size() + 7) / 8 * 8);
  }
  // Where the next record goes.
  void go_to(uint32_t chunk, uint32_t offset) {
    in_ = chunk;
    at_ = offset;
  }
  template <class Record>
  Record& add(uint8_t kind) {
    auto& record = *reinterpret_cast<Record*>(chunk_bytes(in_) + at_);
    record.head = {kind, sizeof(Record) / 8, 0, 0, 0};
    move_on(sizeof(Record));
    return record;
  }
  struct Small {
    uint16_t call;
    uint32_t start_ticks;
    uint64_t file, ticks, value;
  };
  void small(const Small& call) {
    const SpoolSmallCallRecord record{kSpoolSmallCall, sizeof record / 8, call.call,
                                      call.start_ticks,
                                      call.file | call.ticks << kSmallFileBits |
                                          call.value << (kSmallFileBits + kSmallTicksBits)};
    std::memcpy(chunk_bytes(in_) + at_, &record, sizeof record);
    move_on(sizeof record);
  }
  void thread(uint32_t pid, uint32_t tid) {
    auto& record = add<SpoolThreadRecord>(kSpoolThread);
    record.pid = pid;
    record.tid = tid;
  }

  [[nodiscard]] std::string_view bytes() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  [[nodiscard]] uint32_t offset() const { return at_; }

 private:
  void move_on(uint32_t bytes) {
    at_ += bytes;
    area().end = area().sealed = place(in_, at_);
  }

  std::vector<uint8_t> bytes_;
  uint32_t in_ = 0, at_ = 0;
};

}  // namespace fathom
