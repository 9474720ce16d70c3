// SPDX-License-Identifier: Apache-2.0
// Where the samples of a recording went: a call tree from the processes down to the leaves, and
// sums per function. Every report about stacks starts from this. Weights of one event only, since
// nanoseconds and cache misses do not add up. Once built it does not change: any thread may read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "record/sample_sums.h"
#include "report/profile_filter.h"
#include "report/profile_source.h"
#include "report/sample_coverage.h"
#include "report/unwind_quality.h"

namespace fathom {

// What a weight counts.
enum class WeightUnit { kSamples, kNanoseconds, kEvents };

struct Weight {
  int64_t weight = 0;   // in the event's unit
  int64_t samples = 0;  // how many were taken
  double squares = 0;   // of each sample's weight, added up; 0: they are all alike

  Weight& operator+=(const Weight& other) {
    weight += other.weight;
    samples += other.samples;
    squares += other.squares;
    return *this;
  }
  // What chance depends on: so many samples of equal weight would tell as much as these do.
  [[nodiscard]] double effective() const;
};

struct Function {
  // Never empty: "[libc.so.6]" or "[unknown]" where the symbol is not known. With its source line,
  // if asked for: "main (hello.c:12)".
  std::string_view name;
  std::string_view module = {};
  FrameKind kind = FrameKind::kUnknown;
  bool is_process = false;       // the root of a process's stacks
  Weight self = {}, total = {};  // total: once a sample, however often it is on the stack
};

struct CallNode {
  uint32_t parent = 0;
  uint32_t function = 0;
  uint32_t first_child = 0, children = 0;  // a range of CallTree::children
  uint32_t depth = 0;
  Weight self = {}, total = {};
};

struct CallTree {
  std::vector<CallNode> nodes{{}};  // 0 is the root: everything; a parent comes before its children
  std::vector<uint32_t> children;   // of a node by name

  [[nodiscard]] std::span<const uint32_t> children_of(uint32_t node) const {
    return std::span(children).subspan(nodes[node].first_child, nodes[node].children);
  }
};

// Visits all nodes but the root, callers first; `first`: the function is not on the path yet.
template <class Visit>  // void(uint32_t node, bool first)
void visit_calls(const CallTree& tree, size_t functions, Visit visit) {
  std::vector<uint32_t> on_path(functions);
  std::vector<std::pair<uint32_t, bool>> todo;  // node, and whether it is being left
  for (const uint32_t child : tree.children_of(0)) todo.emplace_back(child, false);
  while (!todo.empty()) {
    const auto [at, leaving] = todo.back();
    todo.pop_back();
    const uint32_t function = tree.nodes[at].function;
    if (leaving) {
      --on_path[function];
      continue;
    }
    visit(at, on_path[function]++ == 0);
    todo.emplace_back(at, true);
    for (const uint32_t child : tree.children_of(at)) todo.emplace_back(child, false);
  }
}

// Samples that have their source, event, rate and thread in common.
struct SampleGroup {
  uint32_t source = 0;  // as they were given to load_profile
  uint32_t rate_hz = 0;
  std::string event = {}, process = {}, thread = {};  // names; empty: not known
  int64_t pid = 0, tid = 0;                           // 0: not known
};
struct NodeSamples {
  uint32_t node = 0, group = 0;
  int64_t time_ns = 0;  // since the start of its run, where times were kept
  Weight self = {};
};

// What a profile is made of.
struct ProfileRun {
  std::string label;  // these are printable
  std::string name;   // of its file
  uint32_t set = 0;
  std::string configuration = {};  // the label it was given for the report; empty: none
};

struct Profile {
  std::string command;  // printable
  std::string event;
  std::vector<std::string> other_events;  // that the recording holds too
  WeightUnit unit = WeightUnit::kSamples;
  Maybe duration_ns;     // of the run; absent: not known
  Maybe from_ns, to_ns;  // the part of it that was asked for
  std::vector<uint32_t> rates_hz;
  std::string
      obtained;  // samples per second at those rates, as the probe reports; empty: not known
  std::string left_out;  // runs without a sample of the event; empty: none
  Weight total;
  std::vector<Function> functions;
  CallTree tree;
  std::optional<UnwindQuality> quality;    // absent: nobody knows
  std::optional<SampleCoverage> coverage;  // of all of one run
  std::string damage;
  bool lacks_lines = false;  // that were asked for
  std::vector<ProfileRun> runs;
  std::vector<SampleGroup> groups;  // these two only where asked for
  std::vector<NodeSamples> parts;
  std::string joined;   // what was made alike of folded stacks and recordings; empty: nothing
  std::string in_step;  // functions that go in step with a sampling rate, in words; empty: none

  [[nodiscard]] double share(int64_t weight) const {
    return total.weight > 0 ? static_cast<double>(weight) / static_cast<double>(total.weight) : 0;
  }
  [[nodiscard]] const Function& function_of(const CallNode& node) const {
    return functions[node.function];
  }

  std::unique_ptr<SampleSums> owner;  // of the names
  std::vector<std::unique_ptr<std::string>> made_names;
};

// kNotFound where the recording holds no samples, or none passes the filter.
Result<Profile> load_profile(ProfileSources sources, const ProfileFilter& filter);
Result<Profile> load_profile(const Recording& recording, const ProfileFilter& filter);

// The weight of Fathom's own code in the target.
Weight own_weight(const Profile& profile);

// Indexes of functions that are no processes, the largest own weight first.
std::vector<uint32_t> functions_by_self(const Profile& profile);

}  // namespace fathom
