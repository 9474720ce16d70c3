// SPDX-License-Identifier: Apache-2.0
// Stacks of traced calls: calls.bpf.c copies registers and stack as a call returns, into rings of
// their own, and here they are unwound, in one order of time with what processes map. Belongs to
// the recorder's thread, with the stream it writes to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "probe/event_rings.h"
#include "probe/io/kernel_records.h"
#include "probe/io/ring_per_cpu.h"
#include "probe/stack_builder.h"

namespace fathom {

class CallStacks final : private SampleListener {
 public:
  // From now on what the target maps is known. `lines` as StackBuilder has it.
  static Result<std::unique_ptr<CallStacks>> open(const Target& target, RecordStream& out,
                                                  bool lines);
  // Makes the rings and places them in the map `rings`.
  Status place_rings(int rings);

  // Makes spans of the calls that returned before `until_ns`. Their files must have names by then.
  void drain(KernelRecords& records, int64_t until_ns);

  [[nodiscard]] std::vector<int> wake_fds() const;
  [[nodiscard]] uint64_t wake_bytes() const;
  [[nodiscard]] int64_t lost() const { return changes_.lost(); }  // of what processes map
  [[nodiscard]] int64_t buffer_bytes() const;
  // How stacks ended, in words; empty: all are complete.
  [[nodiscard]] std::string missing() const;

 private:
  class Copies;
  CallStacks(EventRings changes, RecordStream& out, bool lines);
  void take(const WireStackedCall& call);
  void on_sample(const RawSample& /*sample*/) override {}
  void on_change(const TaskChange& change) override { builder_.change(change); }

  EventRings changes_;
  StackBuilder builder_;
  RingPerCpu rings_;
  std::vector<std::unique_ptr<TimedStream>> streams_;
  std::vector<TimedStream*> order_;
  KernelRecords* records_ = nullptr;  // while draining
  int64_t stacks_ = 0;
};

}  // namespace fathom
