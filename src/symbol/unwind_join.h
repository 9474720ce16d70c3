// SPDX-License-Identifier: Apache-2.0
// Completes stacks whose copy was too short: the outer part of a deep stack seldom changes between
// two samples of a thread, so where a cut stack ends at a frame that the thread's last complete
// stack also had (same frame address, same return address), the callers above it are taken from
// there. Joined stacks are marked: they are very likely, not certain, and are counted apart. Keyed
// by thread; owns copies of the stacks; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "symbol/unwinder.h"

namespace fathom {

class StackJoiner {
 public:
  // Threads remembered before the one not seen for longest is forgotten.
  static constexpr size_t kMostThreads = 4096;
  explicit StackJoiner(size_t most_threads = kMostThreads) : most_threads_(most_threads) {}

  enum class Outcome { kComplete, kJoined, kNotJoined };

  // A complete stack is remembered, a cut one is lengthened where it can be; its `end` stays kCut.
  Outcome add(uint64_t thread, UnwoundStack& stack);

  // The thread ended, or its process exec'ed: its addresses mean nothing any more.
  void forget(uint64_t thread) { threads_.erase(thread); }

  struct Counts {
    uint64_t complete = 0, joined = 0, not_joined = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Thread {
    std::vector<UnwoundFrame> frames;  // the last complete stack
    uint64_t last_seen = 0;
  };
  static bool join(const std::vector<UnwoundFrame>& whole, UnwoundStack& stack);
  void make_room();

  size_t most_threads_;
  uint64_t now_ = 0;
  std::unordered_map<uint64_t, Thread> threads_;
  Counts counts_;
};

}  // namespace fathom
