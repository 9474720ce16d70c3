// SPDX-License-Identifier: Apache-2.0
// A frame: the unit of the journal and of the wire, specified to the byte in
// docs/formats/journal.md. It carries every string, stack and detail that its records use, so it
// decodes alone. FrameEncoder belongs to one thread and keeps buffers between frames; decode_frame
// and parse_frame_header may run on any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "record/batch.h"

namespace fathom {

constexpr uint32_t kFrameMagic = 0x4D524646;  // "FFRM"
constexpr size_t kFrameHeaderBytes = 24;
constexpr uint32_t kMaxPayloadBytes = 16U << 20;
constexpr uint32_t kMaxRawBytes = 64U << 20;
constexpr uint32_t kMaxRowsPerTable = 1U << 16;
constexpr uint32_t kMaxListLength =
    1U << 20;  // strings, threads, frames, stacks, details and their items
constexpr uint32_t kMaxBuckets = 4U << 20;  // histogram elements of a table
constexpr uint32_t kSealFlag = 1;           // the last frame of a journal that was closed in order

struct FrameHeader {
  uint32_t payload_bytes = 0;
  uint32_t raw_bytes = 0;  // of the payload before compression
  TableSet tables = 0;
  uint32_t flags = 0;
  uint32_t crc = 0;

  [[nodiscard]] bool sealed() const { return (flags & kSealFlag) != 0; }
};

class FrameEncoder {
 public:
  FrameEncoder();
  ~FrameEncoder();

  // The bytes of one whole frame, header included. `rows` holds at most kMaxRowsPerTable a table.
  // kInvalid if they are too large for one frame: encode fewer.
  Result<std::string> encode(const Dictionary& dictionary, const Rows& rows, uint32_t flags = 0);

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

// Reads a header from the first kFrameHeaderBytes of `bytes`; kCorrupt if it cannot be one.
Result<FrameHeader> parse_frame_header(std::string_view bytes);

// `frame` is header and payload. Checks everything; hostile bytes give kCorrupt, never more memory
// than the limits above allow. Only `tables` are decoded.
// `spare` is a batch that is no longer needed: its memory is used again.
Result<Batch> decode_frame(std::string_view frame, TableSet tables = kAllTables, Batch spare = {});

}  // namespace fathom
