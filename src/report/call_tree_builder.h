// SPDX-License-Identifier: Apache-2.0
// From sums per stack to the tree and the functions of a Profile. Used once, by load_profile.
#pragma once

#include <unordered_map>
#include <vector>

#include "report/profile.h"

namespace fathom {

class CallTreeBuilder {
 public:
  // All must outlive the builder. The profile gets a function per frame of the sums at once, and
  // one per process as they come.
  CallTreeBuilder(const Collected& tables, const SampleSums& sums, Profile& profile);

  void add(const SampleSum& sum, const Weight& weight);
  // Totals, the order of children, sums per function.
  void finish();

 private:
  struct Life {
    int64_t start_ns;
    StringId name;  // of the tables
  };

  uint32_t root_of(const SampleSum& sum);
  uint32_t process_root(std::string_view name);
  uint32_t node_of(uint32_t root, uint32_t stack);
  uint32_t add_node(uint32_t parent, uint32_t function);
  uint32_t made_function(std::string name, bool is_process);
  void order_children();
  void sum_functions();

  const Collected& tables_;
  const SampleSums& sums_;
  Profile& profile_;
  std::unordered_map<int64_t, std::vector<Life>> lives_;  // by pid, in the order of their start
  std::unordered_map<std::string_view, uint32_t> roots_;
  FlatIndex places_;  // (root, stack) to node
  uint32_t no_stack_ = 0;
};

}  // namespace fathom
