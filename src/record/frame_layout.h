// SPDX-License-Identifier: Apache-2.0
// Field numbers of a frame's payload, shared by the encoder and the decoder.
// docs/formats/fathom.proto spells the same out for protoc, and a test reads our frames with it.
#pragma once

#include <cstdint>

#include "record/schema.h"

namespace fathom::frame_layout {

constexpr uint32_t kDictionary = 1;
constexpr uint32_t kFirstTable = 2;  // + table number
template <class Record>
constexpr uint32_t table_field() {
  return kFirstTable + static_cast<uint32_t>(table_number<Record>());
}

// Within a table: 1 is the row count, columns follow in schema order; a histogram column holds
// lengths, and its values stand at its number plus this.
constexpr uint32_t kRowCount = 1;
constexpr uint32_t kBucketsOffset = 64;

// Within the dictionary. Element i of a list is id i + 1.
constexpr uint32_t kStrings = 1;
constexpr uint32_t kThreadPids = 2;
constexpr uint32_t kThreadTids = 3;
constexpr uint32_t kFrameSymbols = 4;
constexpr uint32_t kFrameModules = 5;
constexpr uint32_t kFrameBuildIds = 6;
constexpr uint32_t kFrameFiles = 7;
constexpr uint32_t kFrameLines = 8;
constexpr uint32_t kFrameKinds = 9;
constexpr uint32_t kStackParents = 10;  // how many elements before it the parent stands; 0: none
constexpr uint32_t kStackFrames = 11;
constexpr uint32_t kDetailLengths = 12;
constexpr uint32_t kDetailKeys = 13;
constexpr uint32_t kDetailTypes = 14;  // one of those below, the order of DetailValue
constexpr uint32_t kDetailValues =
    15;  // zigzag integer, reversed bytes of the double, or string id

constexpr uint64_t kDetailInteger = 0;
constexpr uint64_t kDetailReal = 1;
constexpr uint64_t kDetailString = 2;

}  // namespace fathom::frame_layout
