// SPDX-License-Identifier: Apache-2.0
// What the session waits for: descriptors, signals and a steady tick. Belongs to one thread.
#pragma once

#include <signal.h>

#include <cstdint>

#include "base/fd.h"
#include "base/result.h"

namespace fathom {

class EventLoop {
 public:
  // Blocks the signals a recorder forwards and reads them from now on; the mask is restored at the
  // end.
  static Result<EventLoop> create(int64_t tick_ns);
  ~EventLoop();
  EventLoop(EventLoop&& other) noexcept = default;
  EventLoop& operator=(EventLoop&&) = delete;

  enum class Source : uint32_t { kTarget, kProbe };
  // A probe's descriptor is told of once each time it becomes ready: that of an event whose task
  // has ended stays ready for ever.
  Status watch(int fd, Source source) const;

  struct Event {
    bool tick = false;
    bool target = false;  // its descriptor is ready
    bool probe = false;
    int signal = 0;
  };
  // Waits until something happened or `deadline_ns` (monotonic; 0: none) has passed.
  [[nodiscard]] Event wait(int64_t deadline_ns) const;
  [[nodiscard]] const sigset_t& mask_before() const { return mask_before_; }

 private:
  EventLoop() = default;
  [[nodiscard]] Status add(int fd, uint32_t tag, uint32_t mode) const;
  Fd poll_, timer_, signals_;
  sigset_t mask_before_{};
};

}  // namespace fathom
