// SPDX-License-Identifier: Apache-2.0
// Where samples come from: perf_event timers and counters, with the user stack copied by a BPF
// program (as much as there is; needs root) or by perf itself (at most 64 KB). Both also tell what
// processes map, fork, exec and exit, in one order of time with the samples, so that a listener
// always knows the address space a sample was taken in. A source belongs to one thread and delivers
// only when drained.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/perf_event_name.h"
#include "base/result.h"
#include "probe/sampled_scope.h"
#include "symbol/module_cache.h"
#include "symbol/unwinder.h"

namespace fathom {

struct RawSample {
  enum class User : uint8_t {
    kNone,      // in the kernel, of a kernel thread or a process that is ending
    kCopied,    // registers and copy are there
    k32Bit,     // of a 32-bit program: not copied
    kNotInRam,  // copied up to a part that is not in memory
  };
  int64_t time_ns = 0, cpu = 0;
  int64_t pid = 0, tid = 0;            // -1: not known, of a task that has all but ended
  int64_t weight = 0;                  // in the event's unit
  uint32_t rate = 0;                   // which of SampleSettings::rates_hz it is of
  std::span<const uint64_t> kernel{};  // innermost first
  User user = User::kNone;
  UnwindRegisters registers;
  StackCopy copy;  // nothing of it outlives the call
};

struct TaskChange {
  enum class Kind : uint8_t { kMap, kFork, kName, kExec, kExit };
  Kind kind = Kind::kMap;
  int64_t time_ns = 0, pid = 0, tid = 0;
  int64_t parent = 0;     // kFork: the parent's pid
  std::string_view name;  // kName, kExec: of the thread
  MapEvent map;           // kMap
};

class SampleListener {
 public:
  virtual ~SampleListener() = default;
  virtual void on_sample(const RawSample& sample) = 0;
  virtual void on_change(const TaskChange& change) = 0;
};

struct SampleSettings {
  std::string event;  // its name
  PerfEventName what;
  std::vector<int64_t> rates_hz = {};  // at once; kWireMostRates at most
  bool each = false;                   // instead of by a rate: every event is a sample
};

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  // Delivers what happened before `until_ns`, in order of time.
  virtual void drain(SampleListener& listener, int64_t until_ns) = 0;
  // How the last sample came out, so that the next copies are as long as needed.
  virtual void note(bool /*cut*/, uint64_t /*needed_bytes*/) {}
  // Readable when much is waiting.
  [[nodiscard]] virtual std::vector<int> wake_fds() const = 0;

  [[nodiscard]] virtual int64_t dropped() const = 0;  // samples and changes known to be lost
  // What dropped samples of a rate stood for, in the event's unit, and no later sample stands for
  // instead.
  [[nodiscard]] virtual int64_t owed(uint32_t /*rate*/) const { return 0; }
  [[nodiscard]] virtual int64_t throttled() const = 0;
  [[nodiscard]] virtual int64_t counted() const = 0;  // of the event, in its unit, so far
  [[nodiscard]] virtual int64_t buffer_bytes() const = 0;
  [[nodiscard]] virtual bool sees_kernel() const = 0;
};

Result<std::unique_ptr<SampleSource>> sample_by_bpf(const SampledScope& scope,
                                                    const SampleSettings& settings);
Result<std::unique_ptr<SampleSource>> sample_by_perf(const SampledScope& scope,
                                                     const SampleSettings& settings);

}  // namespace fathom
