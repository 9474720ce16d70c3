// SPDX-License-Identifier: Apache-2.0
// From sums per stack to the tree and the functions of a Profile. Used once, by load_profile.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/profile.h"
#include "report/sample_owners.h"

namespace fathom {

class CallTreeBuilder {
 public:
  // All must outlive the builder. The profile gets a function per frame of the sums at once, and
  // one per process or group as they come.
  CallTreeBuilder(const SampleSums& sums, GroupBy group_by, Profile& profile);

  // Whose the next sums are.
  void begin_source(const SampleOwners& owners, std::string label);
  // The node that the sum's weight goes to.
  uint32_t node_of(const SampleSum& sum);
  // Totals, the order of children, sums per function.
  void finish();

 private:
  uint32_t root_of(const SampleSum& sum);
  uint32_t grouped_root(const SampleSum& sum);
  std::string group_of(const SampleSum& sum);
  uint32_t named_child(uint32_t parent, const std::string& name);
  uint32_t place_of(uint32_t root, uint32_t stack);
  template <class Find, class Insert>
  uint32_t add_chain(uint32_t root, uint32_t stack, Find find, Insert insert);
  uint32_t add_node(uint32_t parent, uint32_t function);
  uint32_t made_function(std::string name, bool is_process);
  void order_children();

  const SampleSums& sums_;
  const GroupBy group_by_;
  Profile& profile_;
  const SampleOwners* owners_ = nullptr;
  std::string label_;
  std::map<std::string, uint32_t, std::less<>> made_;           // functions by name
  std::map<std::pair<uint32_t, std::string>, uint32_t> roots_;  // nodes by parent and name
  std::vector<uint32_t> thread_roots_;  // by ThreadId, of this source; 0: not known yet
  std::map<uint32_t, std::vector<uint32_t>> nodes_of_root_;  // by stack, for the first few; 0: none
  FlatIndex places_;                                         // (root, stack) to node, for others
  std::vector<uint32_t> chain_;                              // only to keep its room
  uint32_t no_stack_ = 0;
};

}  // namespace fathom
