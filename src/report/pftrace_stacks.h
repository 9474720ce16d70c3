// SPDX-License-Identifier: Apache-2.0
// Stacks of slices in a trace of Perfetto: each is told once, as interned data of the sequence, and
// slices refer to it by number. Belongs to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "record/dictionary.h"

namespace fathom {

class PftraceStacks {
 public:
  // Ids that follow are of this dictionary.
  void begin_batch(const Dictionary& names);
  // The number of a stack of the batch, which is both a callstack's and that of a text of its
  // functions, from the first to the innermost. What has to be told before is added to `interned`,
  // the body of an InternedData.
  uint64_t number(StackId stack, std::string& interned);

 private:
  uint64_t mapping(const std::string& module, std::string& interned);
  uint64_t frame(FrameId frame, std::string& interned);
  uint64_t tell(const std::vector<uint64_t>& frames, StackId stack, std::string& interned);

  const Dictionary* names_ = nullptr;
  std::vector<uint64_t> of_batch_;  // by stack; 0: not asked for yet
  std::vector<uint64_t> frames_of_batch_;
  std::map<std::string, uint64_t> functions_, modules_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> frames_;  // by function and module
  std::map<std::vector<uint64_t>, uint64_t> stacks_;          // by frames
};

}  // namespace fathom
