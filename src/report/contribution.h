// SPDX-License-Identifier: Apache-2.0
// How much each configuration adds to the traces of all: the metric of docker-traces-xp. Once as
// that tool works it out, so that figures can be compared, and once as it is meant. Pure functions:
// any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/profile.h"

namespace fathom {

// A stack as the tool compares it: without its first two frames and its count, from the first "["
// to the last "]", "Interpreter" and digits left out, ".." made ".", runs of ";" made one, and none
// before it. `folded` has no count.
std::string clean_trace(std::string_view folded);

struct Traces {
  std::string name;
  // Cleaned stacks: how often lines had them, and the samples.
  struct Seen {
    int64_t lines = 0;
    Weight sum = {};
  };
  std::map<std::string, Seen, std::less<>> stacks;

  void add(std::string_view folded, const Weight& sum);
};

// `sort | uniq -u` of each and of all those lines together: only what occurs exactly once is left.
struct CompatibleShare {
  int64_t mine = 0, all = 0;
  [[nodiscard]] int64_t percent() const { return all > 0 ? 100 * mine / all : 0; }
};
std::vector<CompatibleShare> compatible_shares(const std::vector<Traces>& configurations);

// Distinct stacks over those of all together, and sums of samples.
struct StackContribution {
  int64_t distinct = 0;           // stacks that it has
  int64_t exclusive = 0;          // that no other has
  int64_t common = 0;             // that every other has, too
  Weight samples = {};            // that it took
  Weight exclusive_samples = {};  // of stacks that no other has
  Weight covered_samples = {};    // that all took of stacks that it has
};
struct Contributions {
  std::vector<StackContribution> each;
  int64_t distinct = 0, common = 0;  // of all together
  Weight samples = {};
};
Contributions contributions(const std::vector<Traces>& configurations);

}  // namespace fathom
