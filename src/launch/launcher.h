// SPDX-License-Identifier: Apache-2.0
// A launcher starts or finds what is profiled, a Target. A started target waits before its first
// instruction until go(), so that probes can attach. Both belong to the recorder's thread.
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

namespace fathom {

struct LaunchRequest {
  std::string run_label;  // names what the launcher leaves on the host, for doctor --clean
  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=VALUE, over the recorder's own
  std::string cwd;                       // empty: the recorder's
  sigset_t signal_mask{};                // what the target starts with blocked
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
};

class Target {
 public:
  virtual ~Target() = default;
  [[nodiscard]] virtual int64_t pid() const = 0;
  [[nodiscard]] virtual const Cgroup* cgroup() const = 0;  // nullptr: none could be made

  // Lets it run. An error says why the command could not start; 127 or 126 is then the fitting exit
  // status.
  virtual Status go() = 0;
  // Readable when departures() has news.
  [[nodiscard]] virtual int event_fd() const = 0;
  virtual std::vector<Departure> departures() = 0;
  // Whether the launcher's side is gone, so that no departure will come any more.
  [[nodiscard]] virtual bool lost() const = 0;
  // To the target's process group; to all that is left of its tree once the target has departed,
  // and to kill.
  virtual void signal(int number) = 0;
  // Lets go of what is left: removes what the launcher made on the host.
  virtual void finish() = 0;
};

struct LauncherInfo {
  const char* name;
  const char* summary;
  Result<std::unique_ptr<Target>> (*launch)(const LaunchRequest& request);
};

// The table of launchers: one line each in all_launchers.cpp.
std::span<const LauncherInfo> all_launchers();
const LauncherInfo* find_launcher(std::string_view name);

}  // namespace fathom
