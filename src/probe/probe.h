// SPDX-License-Identifier: Apache-2.0
// A probe watches a target and emits records. The session calls it from the recorder's thread only,
// except load: prepare before the launch, start before the target's first instruction, begin when
// all have started, tick at every interval, wake when one of its descriptors says that much is
// waiting, departed for processes the launcher reaped, finish when the target has ended. Hot paths
// count what they lose; report says so.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "launch/launcher.h"
#include "record/records.h"
#include "sink/record_stream.h"

namespace fathom {

enum class IoMode {
  kProfile,  // sums per slice, thread, function and file
  kTrace,    // every call
  kCount,    // sums without times
};

enum class PythonMode : uint8_t {
  kExact,    // every call
  kCpuTime,  // samples by CPU time
  kWallTime  // samples by wall time, waiting threads included
};

struct ProbeSettings {
  int64_t interval_ns = 0;                          // between two looks
  std::vector<int64_t> rates_hz = {99};             // of samples, at once
  std::vector<std::string> events = {"cpu-clock"};  // that samples are taken by, at once
  bool lines = false;                               // source lines and inlined functions in stacks
  IoMode io = IoMode::kProfile;
  bool memory_calls = false;                       // the malloc family, with I/O
  std::string io_layers = {};                      // as --layers has them; empty: the usual ones
  std::string probe_set = {};                      // a file that says more of them; empty: none
  bool io_files = true;                            // which file a call in the kernel is about
  bool io_stacks = false;                          // of traced calls in the kernel
  int64_t least_duration_ns = 0, least_bytes = 0;  // of traced calls in the kernel
  std::string path_prefix = {};                    // of their files
  std::string counters = {};    // events to count, as --counters has them; empty: the usual ones
  bool per_thread = false;      // counts for each thread, too
  bool gpu_times = false;       // of kernels and copies on the device
  bool gpu_stacks = false;      // where GPU memory was allocated that is not freed
  bool gpu_queries = false;     // one by one: calls of the CUDA driver that only ask
  int64_t sample_launches = 1;  // of CUDA: one in so many is recorded
  PythonMode python = PythonMode::kExact;
  std::vector<std::string> programs = {};  // shell commands whose lines are figures
};

// For the progress line. A negative figure is not known.
struct LiveFigures {
  double cpu_cores = -1;
  double memory_bytes = -1;
  double peak_memory_bytes = -1;
  double read_bytes_per_s = -1;
  double written_bytes_per_s = -1;
  int64_t processes = -1;
};

struct ProbeReport {
  std::string rung;      // mechanisms in use
  std::string settings;  // in effect
  int64_t seen = 0;
  int64_t dropped = 0;
  std::string why;  // what is missing and why
  int64_t buffer_bytes = 0;
};

class Probe {
 public:
  virtual ~Probe() = default;
  // Before the target is launched: what goes into its environment.
  virtual Status prepare(LaunchRequest& /*request*/) { return {}; }
  // What start needs and does not depend on the target, such as loading programs into the kernel.
  // Called after prepare on a thread of its own, while other probes load and the target is
  // launched, and complete before start, which reports errors. Not called for a target that is
  // attached to or is in containers: start then does all of it.
  virtual void load() {}
  virtual Status start(const Target& target, RecordStream& out) = 0;
  // The recording's time is from now on: what an attached target used while probes started is not
  // of it.
  virtual void begin(int64_t /*now_ns*/) {}
  virtual void tick(int64_t now_ns) = 0;
  // Descriptors that become readable when a buffer should be drained before the next tick.
  [[nodiscard]] virtual std::vector<int> wake_fds() const { return {}; }
  virtual void wake(int64_t /*now_ns*/) {}
  virtual void departed(const Departure& /*departure*/) {}
  // A step of the target begins, or has ended: what it used goes into its row.
  virtual void step_began(int64_t /*now_ns*/) {}
  virtual void step_ended(int64_t /*now_ns*/, Step& /*row*/) {}
  // What finish would wait for the kernel to do, such as detaching programs: on a thread of its
  // own, while probes without it finish. Called if has_stop().
  virtual void stop() {}
  [[nodiscard]] virtual bool has_stop() const { return false; }
  virtual void finish(int64_t now_ns) = 0;
  // Its BPF programs, once started: descriptors, valid as long as the probe.
  [[nodiscard]] virtual std::vector<int> bpf_programs() const { return {}; }
  [[nodiscard]] virtual ProbeReport report() const = 0;
  // What it knows of the whole run, into the run's row.
  virtual void total(Run& /*run*/) const {}
  virtual void live(LiveFigures& /*figures*/) const {}
};

// One step of a probe's ladder on this machine, for doctor.
struct Rung {
  enum class State { kWorks, kDegraded, kCannot };
  std::string name;
  State state = State::kWorks;
  std::string why;     // what is missing, for the last two
  std::string unlock;  // the one command that unlocks it
};

// The rung as it is where `works` is no error; else it cannot be had, for that reason.
inline Rung rung_if(Rung rung, const Status& works) {
  if (works.ok()) return rung;
  rung.state = Rung::State::kCannot;
  rung.why = works.error().message;
  rung.unlock = works.error().hint;
  return rung;
}

struct ProbeInfo {
  const char* name;
  const char* summary;
  bool on_by_default;
  std::unique_ptr<Probe> (*make)(const ProbeSettings& settings);
  std::vector<Rung> (*examine)();
  std::array<const char*, 4> flags{};  // of `run` that ask for it, too
  bool unhurried = false;              // has nothing to drain or to look at several times a second
};

constexpr int64_t kUsualTickNs = 200 * kNsPerMs, kUnhurriedTickNs = kNsPerSecond;
// The longest time between two ticks that serves all of these.
int64_t longest_tick_ns(const std::vector<const ProbeInfo*>& probes);

// The table of probes: one line each in all_probes.cpp.
std::span<const ProbeInfo> all_probes();
// By name; kInvalid with a suggestion.
Result<const ProbeInfo*> find_probe(std::string_view name);

}  // namespace fathom
