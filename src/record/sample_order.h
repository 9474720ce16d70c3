// SPDX-License-Identifier: Apache-2.0
// Puts samples of the same kind side by side before they are encoded: what they have in common then
// costs next to nothing. Belongs to one thread, keeps its memory from batch to batch.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "record/records.h"

namespace fathom {

class SampleOrder {
 public:
  // By state, event and thread; those that agree in them keep their order. A batch that has ten
  // rows or fewer to a group stays as it is: there is little to win.
  void apply(std::vector<Sample>& samples);

 private:
  struct Kind {
    StringId state, event;
    ThreadId thread;
    bool operator==(const Kind&) const = default;
  };
  struct HashOf {
    size_t operator()(const Kind& kind) const;
  };
  struct Group {
    Kind kind;
    size_t count = 0, next = 0;  // next: where its next row goes
  };
  size_t group_of(const Sample& sample);
  void place_groups();

  std::unordered_map<Kind, size_t, HashOf> numbers_;
  std::vector<Group> groups_;
  std::vector<uint32_t> group_of_row_;
  std::vector<Sample> sorted_;
};

}  // namespace fathom
