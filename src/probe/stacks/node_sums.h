// SPDX-License-Identifier: Apache-2.0
// One running sum per function, program and event: what a sample stands for goes to the function it
// was taken in. Written as what was added since the last time, so that readers and hubs just add.
// Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "sink/record_stream.h"

namespace fathom {

class NodeSums {
 public:
  NodeSums(RecordStream& out, std::string event, std::string unit)
      : out_(out), event_(std::move(event)), unit_(std::move(unit)) {}

  void add(FrameId function, StringId program, int64_t weight) {
    sums_[uint64_t{static_cast<uint32_t>(function)} << 32 | static_cast<uint32_t>(program)] +=
        weight;
  }
  // Adds the records; ids given to add() must still hold.
  void write();
  // The stream's names are being renewed.
  void carry_over(const Dictionary& from, Interner& to);

 private:
  RecordStream& out_;
  std::string event_, unit_;
  std::unordered_map<uint64_t, int64_t> sums_;  // by frame and program
};

}  // namespace fathom
