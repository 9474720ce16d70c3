// SPDX-License-Identifier: Apache-2.0
// How a target is brought to its end: the first signal as asked, TERM when the grace has passed,
// KILL when it has passed again. A second request does not wait. An attached target is not ours to
// end: nothing is sent, and the recording ends at once. Belongs to the session's thread.
#pragma once

#include <signal.h>

#include <cstdint>

#include "base/clock.h"
#include "launch/launcher.h"

namespace fathom {

enum class EndReason { kExited, kSignalled, kDuration, kTimeout, kInterrupted, kLost, kEnded };

class Ending {
 public:
  Ending(Target& target, int64_t grace_ns)
      : target_(target), grace_ns_(grace_ns), attached_(target.scope().attached) {}

  void begin(EndReason reason, int signal_number, int64_t now_ns) {
    if (!begun_) reason_ = reason;
    begun_ = true;
    send(signal_number, now_ns);
  }

  // A signal to the recorder goes to the target. INT and TERM ask it to end; HUP and QUIT mean
  // other things to many programs and are only passed on.
  void forward(int signal_number, int64_t now_ns) {
    if (attached_) return detach(signal_number, now_ns);
    if (signal_number != SIGINT && signal_number != SIGTERM) return target_.signal(signal_number);
    if (asked_++ == 0) {
      asked_signal_ = signal_number;
      return begin(EndReason::kInterrupted, signal_number, now_ns);
    }
    escalate(now_ns);
  }

  void check(int64_t now_ns) {
    if (begun_ && now_ns >= next_ns_) escalate(now_ns);
  }

  [[nodiscard]] bool begun() const { return begun_; }
  // The recording is over, and the target goes on.
  [[nodiscard]] bool detached() const { return begun_ && attached_; }
  [[nodiscard]] EndReason reason() const { return reason_; }
  // The first that asked for the end; 0: none did.
  [[nodiscard]] int asked_signal() const { return asked_signal_; }
  [[nodiscard]] int64_t next_ns() const { return next_ns_; }

 private:
  // What would have ended a recorder that does not catch it ends the recording.
  void detach(int signal_number, int64_t now_ns) {
    const bool asks = signal_number == SIGINT || signal_number == SIGTERM ||
                      signal_number == SIGHUP || signal_number == SIGQUIT;
    if (asks) begin(EndReason::kInterrupted, signal_number, now_ns);
  }
  void send(int signal_number, int64_t now_ns) {
    if (attached_) return;
    target_.signal(signal_number);
    if (signal_number != SIGKILL) target_.signal(SIGCONT);  // a stopped one could not act on it
    last_ = signal_number;
    next_ns_ = now_ns + (signal_number == SIGKILL ? kNsPerSecond : grace_ns_);
  }
  void escalate(int64_t now_ns) {
    send(last_ == SIGTERM || last_ == SIGKILL ? SIGKILL : SIGTERM, now_ns);
  }

  Target& target_;
  int64_t grace_ns_;
  int64_t next_ns_ = 0;
  int last_ = 0;
  int asked_ = 0, asked_signal_ = 0;
  bool attached_;
  bool begun_ = false;
  EndReason reason_ = EndReason::kExited;
};

}  // namespace fathom
