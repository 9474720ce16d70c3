// SPDX-License-Identifier: Apache-2.0
#include "report/call_tree_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace fathom {
namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

CallTreeBuilder::CallTreeBuilder(const Collected& tables, const SampleSums& sums, Profile& profile)
    : tables_(tables), sums_(sums), profile_(profile) {
  for (const Process& process : tables.rows.of<Process>())
    lives_[process.pid].push_back({process.start_ns, process.name});
  for (auto& [pid, lives] : lives_) {
    std::stable_sort(lives.begin(), lives.end(),
                     [](const Life& a, const Life& b) { return a.start_ns < b.start_ns; });
  }
  const std::vector<Frame>& frames = sums.names().frames;
  for (const Frame& frame : frames) {
    Function function{
        .name = sums.text(frame.symbol), .module = sums.text(frame.module), .kind = frame.kind};
    if (function.name.empty()) {
      const std::string_view module = base_name(function.module);
      profile.made_names.push_back(std::make_unique<std::string>(
          module.empty()            ? "[unknown]"
          : module.starts_with('[') ? std::string(module)
                                    : "[" + std::string(module) + "]"));
      function.name = *profile.made_names.back();
    }
    if (frame.file != StringId::kNone) {
      profile.made_names.push_back(std::make_unique<std::string>(
          fmt::format("{} ({}:{})", function.name, base_name(sums.text(frame.file)), frame.line)));
      function.name = *profile.made_names.back();
    }
    profile.functions.push_back(function);
  }
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

uint32_t CallTreeBuilder::process_root(std::string_view name) {
  if (const auto found = roots_.find(name); found != roots_.end()) return found->second;
  const uint32_t function = made_function(std::string(name), true);
  const uint32_t node = add_node(0, function);
  roots_.emplace(profile_.functions[function].name, node);
  return node;
}

// The process that had the pid at the time. An import knows no threads: its stacks have their roots
// themselves.
uint32_t CallTreeBuilder::root_of(const SampleSum& sum) {
  if (sum.thread == ThreadId::kNone) return 0;
  const int64_t pid = sums_.names().threads[index_of(sum.thread)].pid;
  const auto found = lives_.find(pid);
  std::string_view name;
  if (found != lives_.end()) {
    const std::vector<Life>& lives = found->second;
    size_t last = 0;
    while (last + 1 < lives.size() && lives[last + 1].start_ns <= sum.time_ns) ++last;
    name = tables_.text(lives[last].name);
  }
  return name.empty() ? process_root("pid " + std::to_string(pid)) : process_root(name);
}

uint32_t CallTreeBuilder::node_of(uint32_t root, uint32_t stack) {
  if (stack == 0) {
    if (no_stack_ == 0) no_stack_ = made_function("[no stack]", false);
    stack = static_cast<uint32_t>(sums_.stacks().size());  // as if it were one more
    const auto [node, added] = places_.insert(uint64_t{root} << 32 | stack,
                                              static_cast<uint32_t>(profile_.tree.nodes.size()));
    return added ? add_node(root, no_stack_) : node;
  }
  std::vector<uint32_t> chain;
  uint32_t node = root;
  for (; stack != 0; stack = sums_.stacks()[stack].parent) {
    if (const uint32_t* place = places_.find(uint64_t{root} << 32 | stack)) {
      node = *place;
      break;
    }
    chain.push_back(stack);
  }
  for (auto next = chain.rbegin(); next != chain.rend(); ++next) {
    node = add_node(node, static_cast<uint32_t>(sums_.stacks()[*next].frame));
    places_.insert(uint64_t{root} << 32 | *next, node);
  }
  return node;
}

void CallTreeBuilder::add(const SampleSum& sum, const Weight& weight) {
  profile_.tree.nodes[node_of(root_of(sum), sum.stack)].self += weight;
}

void CallTreeBuilder::finish() {
  std::vector<CallNode>& nodes = profile_.tree.nodes;
  for (CallNode& node : nodes) node.total = node.self;
  for (size_t i = nodes.size() - 1; i > 0; --i) nodes[nodes[i].parent].total += nodes[i].total;
  order_children();
  sum_functions();
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
    const auto first = children.begin() + node.first_child;
    std::sort(first, first + node.children, [&](uint32_t a, uint32_t b) {
      return rank[nodes[a].function] < rank[nodes[b].function];
    });
  }
}

// Nodes in depth-first order; a function counts where it is on the path for the first time.
void CallTreeBuilder::sum_functions() {
  std::vector<uint32_t> on_path(profile_.functions.size());
  std::vector<std::pair<uint32_t, bool>> todo;  // node, and whether it is being left
  const CallTree& tree = profile_.tree;
  for (const uint32_t child : tree.children_of(0)) todo.emplace_back(child, false);
  while (!todo.empty()) {
    const auto [at, leaving] = todo.back();
    todo.pop_back();
    const CallNode& node = tree.nodes[at];
    if (leaving) {
      --on_path[node.function];
      continue;
    }
    Function& function = profile_.functions[node.function];
    function.self += node.self;
    if (on_path[node.function]++ == 0) function.total += node.total;
    todo.emplace_back(at, true);
    for (const uint32_t child : tree.children_of(at)) todo.emplace_back(child, false);
  }
}

}  // namespace fathom
