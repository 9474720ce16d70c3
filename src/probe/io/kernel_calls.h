// SPDX-License-Identifier: Apache-2.0
// The kernel half of the I/O probe, loaded and attached: calls.bpf.c, what it sends and what it
// lost. Needs root, or CAP_BPF and CAP_PERFMON. Nothing stays in the kernel when this is gone, also
// not when the recorder is killed. Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "launch/launcher.h"
#include "probe/io/kernel_records.h"
#include "probe/io/layers.h"
#include "probe/io/probe_set.h"

namespace fathom {

class CallStacks;

struct KernelCallSettings {
  bool trace = false;
  bool files = true;      // by name
  uint64_t own_mark = 0;  // of calls that our library makes in the target; 0: it is not there
  int64_t interval_ns = 0, slice_base_ns = 0;
  int64_t least_duration_ns = 0, least_bytes = 0;  // of traced calls
  CallStacks* stacks = nullptr;                    // takes those of traced calls; nullptr: none
  LayerChoice layers;
  std::vector<Capture> captures = {};  // of a probe set
};

class KernelCalls {
 public:
  virtual ~KernelCalls() = default;
  // Loads and attaches the programs for a process that is yet to be started.
  static Result<std::unique_ptr<KernelCalls>> load(const KernelCallSettings& settings);
  // Loads and attaches.
  static Result<std::unique_ptr<KernelCalls>> open(const Target& target,
                                                   const KernelCallSettings& settings);

  // After load(): from now on calls of the target are seen.
  virtual Status attach(const Target& target) = 0;
  // What numbers stand for.
  [[nodiscard]] virtual const std::vector<KernelFunction>& functions() const = 0;
  // Descriptors that become readable when much is waiting.
  [[nodiscard]] virtual std::vector<int> wake_fds() const = 0;
  // Takes in processes of an attached target that came by another way than a fork.
  virtual void adopt(const Target& target) = 0;
  virtual void drain(KernelRecords& records) = 0;
  // Has tasks that are idle send what they have of slices that are over.
  virtual void gather(int64_t now_ns) = 0;
  // Detaches, and waits until no program runs any more. May be called on another thread.
  virtual void stop() = 0;
  // Stops, if that was not done, and takes what is left.
  virtual void finish(KernelRecords& records) = 0;

  // Descriptors of its BPF programs.
  [[nodiscard]] virtual std::vector<int> bpf_programs() const = 0;
  [[nodiscard]] virtual int64_t dropped() const = 0;
  [[nodiscard]] virtual int64_t buffer_bytes() const = 0;
  // What is seen, and what of it this kernel cannot give or was lost, in words; empty: nothing.
  [[nodiscard]] virtual std::string rung() const = 0;
  [[nodiscard]] virtual std::string missing() const = 0;
};

// For doctor: whether the programs load here.
Status try_kernel_calls();

}  // namespace fathom
