// SPDX-License-Identifier: Apache-2.0
// Where the samples of a recording went: a call tree from the processes down to the leaves, and
// sums per function. Every report about stacks starts from this. Weights of one event only, since
// nanoseconds and cache misses do not add up. Once built it does not change: any thread may read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/sample_sums.h"
#include "report/profile_filter.h"
#include "report/unwind_quality.h"

namespace fathom {

// What a weight counts.
enum class WeightUnit { kSamples, kNanoseconds, kEvents };

struct Weight {
  int64_t weight = 0;   // in the event's unit
  int64_t samples = 0;  // how many were taken: what chance depends on

  Weight& operator+=(const Weight& other) {
    weight += other.weight;
    samples += other.samples;
    return *this;
  }
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

struct Profile {
  std::string command;  // printable
  std::string event;
  std::vector<std::string> other_events;  // that the recording holds too
  WeightUnit unit = WeightUnit::kSamples;
  Maybe duration_ns;  // of the run; absent: not known
  std::vector<uint32_t> rates_hz;
  Weight total;
  std::vector<Function> functions;
  CallTree tree;
  std::optional<UnwindQuality> quality;  // absent: nobody knows
  std::string damage;
  bool lacks_lines = false;  // that were asked for

  [[nodiscard]] double share(int64_t weight) const {
    return total.weight > 0 ? static_cast<double>(weight) / static_cast<double>(total.weight) : 0;
  }
  [[nodiscard]] const Function& function_of(const CallNode& node) const {
    return functions[node.function];
  }

  std::unique_ptr<SampleSums> owner;  // of the names
  std::vector<std::unique_ptr<std::string>> made_names;
};

// kNotFound where the recording holds no samples, kInvalid where none passes the filter.
Result<Profile> load_profile(const Recording& recording, const ProfileFilter& filter);

// Indexes of functions that are no processes, the largest own weight first.
std::vector<uint32_t> functions_by_self(const Profile& profile);

// Half the width of the 95 % Wilson interval of a share seen in `samples` samples.
double share_half_width(double share, int64_t samples);

}  // namespace fathom
