// SPDX-License-Identifier: Apache-2.0
// One running sum per function, program and event: what a sample stands for goes to the function it
// was taken in. Written as what was added since the last time, so that readers and hubs just add.
// Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/flat_index.h"
#include "sink/record_stream.h"

namespace fathom {

class NodeSums {
 public:
  NodeSums(RecordStream& out, std::string event, std::string unit)
      : out_(out), event_(std::move(event)), unit_(std::move(unit)) {}

  void add(FrameId function, StringId program, int64_t weight) {
    const uint64_t key =
        uint64_t{static_cast<uint32_t>(function)} << 32 | static_cast<uint32_t>(program);
    const auto [at, added] = index_.insert(key + 1, static_cast<uint32_t>(sums_.size()));
    if (added) sums_.push_back({function, program, 0});
    sums_[at].weight += weight;
  }
  // Adds the records; ids given to add() must still hold.
  void write();
  // The stream's names are being renewed.
  void carry_over(const Dictionary& from, Interner& to);

 private:
  RecordStream& out_;
  std::string event_, unit_;
  struct Sum {
    FrameId function{};
    StringId program{};
    int64_t weight = 0;
  };
  FlatIndex index_;  // into sums_, by function and program
  std::vector<Sum> sums_;
};

}  // namespace fathom
