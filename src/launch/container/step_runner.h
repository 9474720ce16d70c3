// SPDX-License-Identifier: Apache-2.0
// Has fathom-hold execute the steps of a container, one after the other, each as often as it says
// and no longer than it may. The first that fails is the last. Belongs to the recorder's thread.
//
//   idle --next--> running --limit--> ending --grace--> killed
//     ^               |                  |                |
//     +--- ended -----+------------------+----------------+        no step left: quit
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "launch/container/container_request.h"
#include "launch/container/hold_channel.h"
#include "launch/launcher.h"

namespace fathom {

class StepRunner {
 public:
  // `usual` is what the image would run.
  StepRunner(HoldChannel& hold, std::vector<ContainerStep> steps, std::vector<std::string> usual);

  // Readable when a time limit has passed.
  [[nodiscard]] int timer_fd() const { return timer_.get(); }
  Status begin();
  // Hears what hold said; call when its socket or the timer is readable, and take_events after it.
  void attend();
  // The container has ended: no step goes on, and no step begins.
  void container_ended();
  // To what runs; no step begins any more.
  void signal(int number);
  // To be called until there are none: a step starts when the event of its beginning has been
  // taken, and hold leaves when that of the last end has.
  std::vector<StepEvent> take_events();

 private:
  struct Running {
    size_t step = 0;
    int64_t repetition = 0;
    bool timed_out = false, ended = false;
  };
  // false: nothing is to be done until hold says something.
  bool go_on();
  void next();
  void start(size_t step, int64_t repetition);
  void give(const HoldChannel::Order& order);
  void hear(const fathom_hold_message& message);
  void ended(int32_t id, std::optional<int> status);
  void check_limit();
  void set_timer(int64_t delay_ns) const;
  void quit();
  void tell_not_reached();
  void tell(StepEvent::Kind kind, const Running& running, std::optional<int> status);
  [[nodiscard]] const std::vector<std::string>& command_of(size_t step) const;

  HoldChannel& hold_;
  std::vector<ContainerStep> steps_;
  std::vector<std::string> usual_;
  Fd timer_;
  std::vector<StepEvent> events_;
  std::vector<Running> all_;                 // by id
  std::optional<HoldChannel::Order> order_;  // of a step whose beginning is being told
  int32_t current_ = -1;                     // the one that is waited for
  size_t step_ = 0;
  int64_t repetition_ = 0;
  bool begun_ = false, stopping_ = false, killed_ = false, quit_ = false;
  bool told_not_reached_ = false;
  int status_ = 0;  // to exit with
};

}  // namespace fathom
