// SPDX-License-Identifier: Apache-2.0
// Every program that a started target executes, as the kernel tells it, with what its loader put
// into it: also one that ends before anybody could look at it. Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "probe/event_rings.h"
#include "probe/raw_sample.h"

namespace fathom {

struct ExecutedProgram {
  int64_t pid = 0;
  std::string name;  // of its thread: the start of the file's
  std::string path;  // as its process saw it; empty: the kernel told nothing after the exec
  bool has_loader = false, has_libraries = false, has_ours = false;
};

class ProgramWatch final : private SampleListener {
 public:
  // An ordinary user may where kernel.perf_event_paranoid is at most 2.
  static Result<std::unique_ptr<ProgramWatch>> open(const Target& target);

  // Those that have ended since, or were replaced by another. What was told in part is left out.
  std::vector<ExecutedProgram> ended(int64_t until_ns);
  // The same for the last time: also those that still run.
  std::vector<ExecutedProgram> rest();

  [[nodiscard]] std::vector<int> wake_fds() const { return rings_.wake_fds(); }
  [[nodiscard]] int64_t buffer_bytes() const { return rings_.mapped_bytes(); }

 private:
  explicit ProgramWatch(EventRings rings);
  void on_sample(const RawSample& /*sample*/) override {}
  void on_change(const TaskChange& change) override;
  void end(int64_t pid);

  EventRings rings_;
  std::vector<std::unique_ptr<TimedStream>> streams_;
  std::vector<TimedStream*> order_;
  std::map<int64_t, ExecutedProgram> running_;  // by pid; not those that were forked
  std::vector<ExecutedProgram> ended_;
  int64_t lost_ = 0;
};

}  // namespace fathom
