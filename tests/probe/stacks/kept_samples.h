// SPDX-License-Identifier: Apache-2.0
// A listener that keeps what it is told, and a run of a program under a SampleSource. One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probe/stacks/sample_source.h"

namespace fathom::fixtures {

struct KeptChange {
  TaskChange::Kind kind;
  int64_t time_ns, pid, tid, parent;
  std::string name;
  MapEvent map;
};

struct KeptSample {
  int64_t time_ns, pid, tid, weight;
  size_t kernel_frames, copied_bytes;
  RawSample::User user;
  uint32_t sampler = 0;
};

class KeptSamples final : public SampleListener {
 public:
  void on_sample(const RawSample& sample) override {
    note_time(sample.time_ns, false);
    samples.push_back({sample.time_ns, sample.pid, sample.tid, sample.weight, sample.kernel.size(),
                       sample.copy.bytes.size(), sample.user, sample.sampler});
  }
  void on_change(const TaskChange& change) override {
    note_time(change.time_ns, true);
    changes.push_back({change.kind, change.time_ns, change.pid, change.tid, change.parent,
                       std::string(change.name), change.map});
  }

  std::vector<KeptSample> samples;
  std::vector<KeptChange> changes;
  // Of both together. In perf's rings a change may come right behind a younger sample: the one that
  // interrupted its writing.
  int64_t out_of_order = 0;

 private:
  void note_time(int64_t time_ns, bool is_change) {
    if (time_ns < last_ns_ && !(is_change && last_is_sample_)) ++out_of_order;
    last_is_sample_ = !is_change;
    last_ns_ = time_ns;
  }
  int64_t last_ns_ = 0;
  bool last_is_sample_ = false;
};

using OpenSource = Result<std::unique_ptr<SampleSource>> (*)(const SampledScope&, const Samplers&);
struct SampledRun {
  std::string error;  // why the source could not start; the rest is empty then
  int64_t pid = 0, dropped = 0, counted = 0;
  int status = -1;
  bool sees_kernel = false;
};

// Runs `command` by the launcher, as a session does, and gives `listener` what the source tells:
// every few milliseconds or, with `only_at_end`, when all of it has ended.
SampledRun sample_program(OpenSource open, const std::vector<std::string>& command,
                          SampleListener& listener, const std::vector<int64_t>& rates_hz = {999},
                          bool only_at_end = false);

std::string workload(const std::string& name);

}  // namespace fathom::fixtures
