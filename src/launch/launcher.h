// SPDX-License-Identifier: Apache-2.0
// A launcher starts or finds what is profiled, a Target. A started target waits before its first
// instruction until go(), so that probes can attach; an attached one runs already and goes on when
// the recording ends. Both belong to the recorder's thread.
#pragma once

#include <signal.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/cgroup.h"
#include "launch/inner_ids.h"

namespace fathom {

struct ContainerRequest;

struct LaunchRequest {
  std::string run_label;  // names what the launcher leaves on the host, for doctor --clean
  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=VALUE, over base/environment.h
  std::string cwd;                       // empty: the recorder's
  sigset_t signal_mask{};                // what the target starts with blocked
  std::string attach_to;                 // instead of a command; its launcher says how it reads
  // What the command is to run in; nullptr: this machine as it is.
  std::shared_ptr<const ContainerRequest> container = {};

  // A file or folder of the recorder's that the target must be able to use.
  struct Share {
    std::string path, inside;
    bool writable = false;
  };
  std::vector<Share> shares = {};
  // A probe reads what the target's cgroup used, which in version 1 takes a leaf in more trees.
  bool cgroup_figures = false;
  // Adds one. Returns its path as the target sees it.
  std::string share(const std::string& path, bool writable);
};

// What is watched. Of an attached one, a probe takes in what is there when it starts (processes_in
// lists it) and what comes after; a started one is a single process with a single thread.
struct Scope {
  enum class Kind {
    kTree,    // processes with all their threads and descendants
    kCgroup,  // whoever is in Target::cgroup() or below it, now or later
    kSystem,  // whoever runs on this host
  };
  Kind kind = Kind::kTree;
  std::vector<int64_t> roots;  // pids of a kTree, at least one
  bool attached = false;       // it ran before: nobody here starts, reaps, signals or ends it
  bool reaped = true;          // whoever started it waits for all of it, and tells in departures
  std::string title;           // of an attached one: "pid 123 (nginx)", "cgroup /x", "this host"
};

// A process of the tree that ended and was reaped here: the target itself or an orphan it left. The
// figures include its waited-for descendants; absent ones could not be read.
struct Departure {
  int64_t pid = 0;
  bool is_main = false;
  int status = 0;  // as wait(2)
  int64_t time_ns = 0;
  int64_t user_ns = 0, system_ns = 0, max_rss_bytes = 0, minor_faults = 0, major_faults = 0;
  int64_t voluntary_switches = 0, involuntary_switches = 0;
  struct Io {
    int64_t read_chars, written_chars, disk_read_bytes, disk_written_bytes;
  };
  std::optional<Io> io;
  bool has_figures = true;  // false: whoever reaped it does not tell
};

// Something the user wanted executed in the target, as a part of the run with figures of its own.
struct StepEvent {
  enum class Kind {
    kBegan,
    kEnded,
    kLost,        // it began; the container ended before the step was seen to end
    kNotReached,  // an earlier step failed, or the run ended
  };
  Kind kind = Kind::kBegan;
  int64_t time_ns = 0;
  std::string name, command;
  int64_t repetition = 0;     // of `repeat`, from 1
  std::optional<int> status;  // as wait(2); absent: it could not be executed
  bool timed_out = false;
};

// What is known of a target beyond its processes, for the run's row and for people.
struct TargetFacts {
  std::string image_digest, dataset_hash, limits, container;
  std::string no_library;          // why no library can be put into it; empty: it can
  std::vector<std::string> notes;  // what the user should know before it starts
};

// One container of a target. Good as long as the target.
struct TargetPart {
  std::string name, limits;
  int64_t pid = 0;                 // its first process
  const Cgroup* cgroup = nullptr;  // its own; nullptr: not known
};

class Target {
 public:
  virtual ~Target() = default;
  [[nodiscard]] virtual int64_t pid() const = 0;  // the first root; 0: the scope has none
  // All that it does is counted there, and nobody else. nullptr: there is no such cgroup.
  [[nodiscard]] virtual const Cgroup* cgroup() const = 0;
  [[nodiscard]] virtual Scope scope() const {
    return {.kind = Scope::Kind::kTree,
            .roots = {pid()},
            .attached = false,
            .reaped = true,
            .title = {}};
  }

  // Lets it run. An error says why the command could not start; 127 or 126 is then the fitting exit
  // status.
  virtual Status go() = 0;
  // Readable when departures() or over() has news; -1: ask at every tick.
  [[nodiscard]] virtual int event_fd() const = 0;
  virtual std::vector<Departure> departures() = 0;
  // Whether the launcher's side is gone, so that no departure will come any more.
  [[nodiscard]] virtual bool lost() const = 0;
  // Of an attached one, which never departs: all that was named has ended, and how, as wait(2) has
  // it, where that could be seen.
  [[nodiscard]] virtual bool over() { return false; }
  [[nodiscard]] virtual std::optional<int> end_status() const { return std::nullopt; }
  // What began or ended since the last call. Asked after departures(), until there is none: what
  // comes next begins when it is asked again.
  virtual std::vector<StepEvent> step_events() { return {}; }
  [[nodiscard]] virtual TargetFacts facts() const { return {}; }
  // The containers it consists of; empty: it is none.
  [[nodiscard]] virtual std::vector<TargetPart> parts() const { return {}; }
  // What is known of its namespaces by now. Probes that watch it add to it.
  [[nodiscard]] InnerIds& inner_ids() const { return inner_ids_; }
  // After its end: what the launcher knows of why.
  [[nodiscard]] virtual std::string end_note() { return {}; }
  // To the target's process group; to all that is left of its tree once the target has departed,
  // and to kill.
  virtual void signal(int number) = 0;
  // Lets go of what is left: removes what the launcher made on the host.
  virtual void finish() = 0;

 private:
  mutable InnerIds inner_ids_;
};

// The processes of the target that run now, parents before children; threads of one are the ids in
// /proc/PID/task. Kernel threads and this process itself are left out.
std::vector<int64_t> processes_in(const Target& target);

// A failure to execute the target's program, with the code for it: other failures of a launcher may
// be of a file that is not found, too.
Error of_command(Error error);

struct LauncherInfo {
  const char* name;
  const char* summary;
  Result<std::unique_ptr<Target>> (*launch)(const LaunchRequest& request);
};

// The table of launchers: one line each in all_launchers.cpp.
std::span<const LauncherInfo> all_launchers();
const LauncherInfo* find_launcher(std::string_view name);

}  // namespace fathom
