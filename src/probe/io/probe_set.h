// SPDX-License-Identifier: Apache-2.0
// Which layers and functions the I/O probe looks at, as a YAML file says it:
// docs/formats/probe_set.md. Plain values: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probe/io/layers.h"

namespace fathom {

// An extended regular expression of POSIX, found anywhere in a name.
class NamePattern {
 public:
  static Result<NamePattern> compile(const std::string& text);
  [[nodiscard]] bool fits(const std::string& name) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::shared_ptr<void> compiled_;
};

// The ways to a function, the best first.
enum class HookRung { kNone, kFentry, kTracepoint, kKprobe, kUprobe };

// Functions that are asked for by a pattern.
struct Capture {
  enum class Kind {
    kSystemCalls,  // of the layer sys: only those
    kFunctions,    // of the kernel, by the best rung
    kTracepoints,  // NAME or GROUP:NAME
    kUser,         // of a library or program, by uprobes
  };
  std::string layer;
  Kind kind = Kind::kFunctions;
  NamePattern pattern;
  std::string file = {};          // kUser
  std::vector<HookRung> by = {};  // kFunctions: only these; empty: any
};

struct ProbeSet {
  std::string name;
  LayerChoice layers;
  std::vector<Capture> captures;
  std::vector<std::string> path_prefixes;  // only files whose name begins so; empty: all
  int64_t interval_ns = 0;                 // 0: as --interval has it
  std::vector<std::string> left_out;       // what cannot be had, in words

  // Any of it is for the kernel half.
  [[nodiscard]] bool wants_kernel() const { return layers.any_of_kernel() || !captures.empty(); }
};

// kInvalid with the line and what to write instead.
Result<ProbeSet> parse_probe_set(std::string_view text);
Result<ProbeSet> read_probe_set(const std::string& path);

}  // namespace fathom
