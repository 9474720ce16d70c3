// SPDX-License-Identifier: Apache-2.0
// One run: wires a launcher, some probes and a sink, and nothing else.
//
//   made --launch--> waiting --go--> running --target ends--> draining --close--> done
//                       |               |  ^
//                       |               |  +-- signal forwarded, duration or timeout: TERM, then
//                       KILL
//                       +-- exec fails: done, with the error
//
// An attached target runs before go() and after done; a signal, duration or timeout only ends the
// recording.
//
// run() blocks and owns the thread it is called on; signals are blocked for its length and read
// from a descriptor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/launcher.h"
#include "probe/probe.h"
#include "session/ending.h"
#include "sink/record_stream.h"
#include "sink/sink.h"

namespace fathom {

struct Progress {
  int64_t elapsed_ns = 0;
  int64_t records = 0;
  int64_t dropped = 0;
  LiveFigures figures;
  std::string attached_to;  // empty: the target was started here
};

struct SessionOptions {
  const LauncherInfo* launcher = nullptr;
  LaunchRequest request;
  std::vector<const ProbeInfo*> probes;
  std::string label;
  ProbeSettings settings;
  int64_t duration_ns = 0;        // 0: until the target ends
  int64_t timeout_ns = 0;         // 0: none
  int64_t grace_ns = 0;           // between the steps of ending the target; see ending.h
  bool holds_interrupts = false;  // SIGINT is blocked (held_interrupts.h), and not for the target
  bool wait_all = false;          // also for processes the command leaves behind
  std::function<void(const Progress&)> on_progress;  // about once a second
  std::function<void(const Error&)> on_warning;
  std::function<void(const std::string&)> on_note;  // what the user should know before it starts
  RecordStream::Observer on_rows;  // about once a second, or more often where there are many
};

struct SessionResult {
  int status = 0;         // of the command, as wait(2)
  bool attached = false;  // the target is not ours, nor is its status
  EndReason reason = EndReason::kExited;
  bool out_of_memory = false;  // the kernel killed it, or a part of it, for that
  SinkReport sink;
  int interrupted_by = 0;  // the signal that ended a container which did not hear it; 0: none
};

// A new run id: UTC time and a random tail, so that ids sort by start.
std::string new_run_id();

// Records one run into `sink`. An error means that nothing ran; trouble later is in the result.
Result<SessionResult> run_session(const SessionOptions& options, const std::string& run_id,
                                  Sink& sink);

}  // namespace fathom
