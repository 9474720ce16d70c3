// SPDX-License-Identifier: Apache-2.0
#include "report/call_tree_builder.h"

#include <algorithm>
#include <numeric>

#include "report/frame_name.h"

namespace fathom {
namespace {

constexpr size_t kMostDirectRoots = 16;  // four bytes a stack each

}  // namespace

CallTreeBuilder::CallTreeBuilder(const SampleSums& sums, GroupBy group_by, Profile& profile)
    : sums_(sums), group_by_(group_by), profile_(profile) {
  profile.tree.nodes.reserve(sums.stacks().size() + 1);
  for (const Frame& frame : sums.names().frames) {
    Function function{
        .name = sums.text(frame.symbol), .module = sums.text(frame.module), .kind = frame.kind};
    if (function.name.empty() || frame.file != StringId::kNone) {
      profile.made_names.push_back(std::make_unique<std::string>(frame_name(frame, sums.names())));
      function.name = *profile.made_names.back();
    }
    profile.functions.push_back(function);
  }
}

void CallTreeBuilder::begin_source(const SampleOwners& owners, std::string label) {
  owners_ = &owners;
  label_ = std::move(label);
  thread_roots_.assign(sums_.names().threads.size(), 0);
}

uint32_t CallTreeBuilder::made_function(std::string name, bool is_process) {
  profile_.made_names.push_back(std::make_unique<std::string>(std::move(name)));
  profile_.functions.push_back({.name = *profile_.made_names.back(), .is_process = is_process});
  return static_cast<uint32_t>(profile_.functions.size() - 1);
}

uint32_t CallTreeBuilder::add_node(uint32_t parent, uint32_t function) {
  std::vector<CallNode>& nodes = profile_.tree.nodes;
  nodes.push_back({.parent = parent, .function = function, .depth = nodes[parent].depth + 1});
  return static_cast<uint32_t>(nodes.size() - 1);
}

uint32_t CallTreeBuilder::named_child(uint32_t parent, const std::string& name) {
  const auto [root, added] = roots_.try_emplace({parent, name}, 0);
  if (!added) return root->second;
  const auto known = made_.find(name);
  const uint32_t function = known != made_.end()
                                ? known->second
                                : made_.emplace(name, made_function(name, true)).first->second;
  return root->second = add_node(parent, function);
}

std::string CallTreeBuilder::group_of(const SampleSum& sum) {
  const int64_t pid = sums_.names().threads[index_of(sum.thread)].pid;
  switch (group_by_) {
    case GroupBy::kHost:
      return owners_->host(pid, sum.time_ns);
    case GroupBy::kRank:
      return owners_->rank(pid, sum.time_ns);
    case GroupBy::kConfig:
      return label_;
    default:
      return {};
  }
}

uint32_t CallTreeBuilder::grouped_root(const SampleSum& sum) {
  uint32_t root = 0;
  if (const std::string group = group_of(sum); !group.empty()) root = named_child(0, group);
  // An import knows no threads: its stacks have their roots themselves.
  if (sum.thread == ThreadId::kNone) return root;
  const ThreadKey& key = sums_.names().threads[index_of(sum.thread)];
  root = named_child(root, owners_->process(key.pid, sum.time_ns));
  return group_by_ == GroupBy::kThread ? named_child(root, owners_->thread(key)) : root;
}

uint32_t CallTreeBuilder::root_of(const SampleSum& sum) {
  if (!owners_->once(sums_.names().threads[index_of(sum.thread)].pid)) return grouped_root(sum);
  uint32_t& root = thread_roots_[index_of(sum.thread)];
  if (root == 0) root = grouped_root(sum);
  return root;
}

// Adds what of the stack has no node yet, from the innermost caller that has one.
template <class Find, class Insert>
uint32_t CallTreeBuilder::add_chain(uint32_t root, uint32_t stack, Find find, Insert insert) {
  uint32_t node = root;
  chain_.clear();
  for (; stack != 0; stack = sums_.stacks()[stack].parent) {
    if (const uint32_t place = find(stack); place != 0) {
      node = place;
      break;
    }
    chain_.push_back(stack);
  }
  for (auto next = chain_.rbegin(); next != chain_.rend(); ++next) {
    node = add_node(node, static_cast<uint32_t>(sums_.stacks()[*next].frame));
    insert(*next, node);
  }
  return node;
}

uint32_t CallTreeBuilder::place_of(uint32_t root, uint32_t stack) {
  if (stack == 0) {
    if (no_stack_ == 0) no_stack_ = made_function("[no stack]", false);
    stack = static_cast<uint32_t>(sums_.stacks().size());  // as if it were one more
    const auto [node, added] = places_.insert(uint64_t{root} << 32 | stack,
                                              static_cast<uint32_t>(profile_.tree.nodes.size()));
    return added ? add_node(root, no_stack_) : node;
  }
  const auto known = nodes_of_root_.find(root);
  if (known == nodes_of_root_.end() && nodes_of_root_.size() >= kMostDirectRoots) {
    return add_chain(
        root, stack,
        [&](uint32_t at) {
          const uint32_t* place = places_.find(uint64_t{root} << 32 | at);
          return place == nullptr ? 0 : *place;
        },
        [&](uint32_t at, uint32_t node) { places_.insert(uint64_t{root} << 32 | at, node); });
  }
  std::vector<uint32_t>& nodes =
      known != nodes_of_root_.end() ? known->second : nodes_of_root_[root];
  nodes.resize(sums_.stacks().size());
  return add_chain(
      root, stack, [&](uint32_t at) { return nodes[at]; },
      [&](uint32_t at, uint32_t node) { nodes[at] = node; });
}

uint32_t CallTreeBuilder::node_of(const SampleSum& sum) {
  return place_of(root_of(sum), sum.stack);
}

void CallTreeBuilder::finish() {
  std::vector<CallNode>& nodes = profile_.tree.nodes;
  for (CallNode& node : nodes) node.total = node.self;
  for (size_t i = nodes.size() - 1; i > 0; --i) nodes[nodes[i].parent].total += nodes[i].total;
  order_children();
  visit_calls(profile_.tree, profile_.functions.size(), [this](uint32_t at, bool first) {
    const CallNode& node = profile_.tree.nodes[at];
    Function& function = profile_.functions[node.function];
    function.self += node.self;
    if (first) function.total += node.total;
  });
}

void CallTreeBuilder::order_children() {
  const std::vector<Function>& functions = profile_.functions;
  std::vector<uint32_t> order(functions.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const auto key = [](const Function& f) { return std::tuple(f.name, f.module, f.kind); };
    return key(functions[a]) < key(functions[b]);
  });
  std::vector<uint32_t> rank(functions.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;

  std::vector<CallNode>& nodes = profile_.tree.nodes;
  std::vector<uint32_t>& children = profile_.tree.children;
  for (size_t i = 1; i < nodes.size(); ++i) ++nodes[nodes[i].parent].children;
  uint32_t next = 0;
  for (CallNode& node : nodes) {
    node.first_child = next;
    next += std::exchange(node.children, 0);
  }
  children.resize(next);
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    CallNode& parent = nodes[nodes[i].parent];
    children[parent.first_child + parent.children++] = i;
  }
  for (const CallNode& node : nodes) {
    if (node.children < 2) continue;
    const auto first = children.begin() + node.first_child;
    std::sort(first, first + node.children, [&](uint32_t a, uint32_t b) {
      return rank[nodes[a].function] < rank[nodes[b].function];
    });
  }
}

}  // namespace fathom
