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

// A stack as the tool compares it: without its first two frames (the last frame always stays), and
// without everything from the first "[" to the last "]", "Interpreter" and digits; ".." becomes
// ".", runs of ";" become one, and a leading ";" is removed. `folded` has no count.
std::string clean_trace(std::string_view folded);

// One configuration.
struct Traces {
  std::string name;
  std::map<std::string, int64_t, std::less<>> lines;  // cleaned, also empty: how often they occur
  std::map<std::string, Weight, std::less<>> stacks;  // cleaned: samples
  int64_t skipped_lines = 0, first_skipped = 0;       // which are not folded stacks

  void add(std::string_view folded, const Weight& sum);
  // A line of a file with its count, whatever it holds: the tool compares every line.
  void add_line(std::string_view line);
  void add_samples(std::string_view folded, const Weight& sum);
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
  Weight emptied = {};            // that it took of stacks with no text after cleaning: not counted
};
struct Contributions {
  std::vector<StackContribution> each;
  int64_t distinct = 0, common = 0;  // of all together
  Weight samples = {}, emptied = {};
};
Contributions contributions(const std::vector<Traces>& configurations);

}  // namespace fathom
