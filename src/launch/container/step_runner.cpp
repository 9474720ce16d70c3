// SPDX-License-Identifier: Apache-2.0
#include "launch/container/step_runner.h"

#include <signal.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr int64_t kGraceNs = 5 * kNsPerSecond;  // from TERM to KILL
constexpr int kNotFound = 127, kNotExecutable = 126;

int exit_status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

StepRunner::StepRunner(HoldChannel& hold, std::vector<ContainerStep> steps,
                       std::vector<std::string> usual)
    : hold_(hold),
      steps_(std::move(steps)),
      usual_(std::move(usual)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

const std::vector<std::string>& StepRunner::command_of(size_t step) const {
  return steps_[step].command.empty() ? usual_ : steps_[step].command;
}

Status StepRunner::begin() {
  if (!timer_.valid()) return errno_error("timerfd");
  begun_ = true;
  return {};
}

// Hold hears of a step, or that there is none left, when whoever asks has looked at what was
// before: else the end of one step would count as the next one's, or find nobody there.
std::vector<StepEvent> StepRunner::take_events() {
  while (events_.empty() && go_on()) {
  }
  return std::exchange(events_, {});
}

bool StepRunner::go_on() {
  if (order_) {
    give(*std::exchange(order_, std::nullopt));
    return true;
  }
  if (!begun_ || current_ >= 0 || quit_) return false;
  next();
  return true;
}

void StepRunner::tell(StepEvent::Kind kind, const Running& running, std::optional<int> status) {
  const ContainerStep& step = steps_[running.step];
  StepEvent event;
  event.kind = kind;
  event.time_ns = monotonic_ns();
  event.name = step.name;
  event.command = shell_quote(command_of(running.step));
  event.repetition = running.repetition;
  event.status = status;
  event.timed_out = running.timed_out;
  events_.push_back(std::move(event));
}

void StepRunner::set_timer(int64_t delay_ns) const {
  itimerspec when{};
  when.it_value.tv_sec = delay_ns / kNsPerSecond;
  when.it_value.tv_nsec = delay_ns % kNsPerSecond;
  (void)timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void StepRunner::quit() {
  if (quit_) return;
  quit_ = true;
  tell_not_reached();
  (void)hold_.send({.kind = FATHOM_HOLD_QUIT, .value = status_});
}

// One event per step, whatever its repetitions.
void StepRunner::tell_not_reached() {
  if (std::exchange(told_not_reached_, true)) return;
  for (size_t i = step_; i < steps_.size(); ++i) {
    const int64_t done = i == step_ ? repetition_ : 0;
    if (done < steps_[i].repeat)
      tell(StepEvent::Kind::kNotReached, {i, done + 1, false, false}, std::nullopt);
  }
}

void StepRunner::container_ended() {
  quit_ = true;
  order_.reset();
  for (Running& running : all_) {
    if (!std::exchange(running.ended, true)) tell(StepEvent::Kind::kLost, running, std::nullopt);
  }
  current_ = -1;
  tell_not_reached();
}

void StepRunner::next() {
  while (step_ < steps_.size() && repetition_ >= steps_[step_].repeat) {
    ++step_;
    repetition_ = 0;
  }
  if (stopping_ || step_ >= steps_.size()) return quit();
  start(step_, ++repetition_);
}

void StepRunner::start(size_t index, int64_t repetition) {
  const ContainerStep& step = steps_[index];
  const auto id = static_cast<int32_t>(all_.size());
  all_.push_back({index, repetition, false, false});
  if (!step.background) current_ = id;
  tell(StepEvent::Kind::kBegan, all_.back(), std::nullopt);
  HoldChannel::Order order{.kind = FATHOM_HOLD_STEP, .id = id};
  order.words = command_of(index);
  order.settings = step.settings;
  if (!step.data.empty()) order.settings.push_back("FATHOM_DATA=" + step.data);
  order.settings.push_back("FATHOM_STEP=" + step.name);
  order_ = std::move(order);
}

void StepRunner::give(const HoldChannel::Order& order) {
  if (!hold_.send(order).ok()) return ended(order.id, std::nullopt);
  const ContainerStep& step = steps_[all_[static_cast<size_t>(order.id)].step];
  if (!step.background && step.time_limit_ns > 0) set_timer(step.time_limit_ns);
}

void StepRunner::ended(int32_t id, std::optional<int> status) {
  if (id < 0 || static_cast<size_t>(id) >= all_.size()) return;
  Running& running = all_[static_cast<size_t>(id)];
  if (std::exchange(running.ended, true)) return;
  tell(StepEvent::Kind::kEnded, running, status);
  const bool failed = !status || exit_status_of(*status) != 0;
  // One that was ended at its limit has done what was asked of it.
  if (failed && !running.timed_out && !steps_[running.step].background) {
    if (status_ == 0) status_ = status ? exit_status_of(*status) : kNotFound;
    stopping_ = true;
  }
  if (id != current_) return;
  current_ = -1;
  killed_ = false;
  set_timer(0);
}

void StepRunner::hear(const fathom_hold_message& message) {
  if (message.kind == FATHOM_HOLD_ENDED) ended(message.id, message.value);
  if (message.kind != FATHOM_HOLD_FAILED) return;
  status_ = message.value == ENOENT ? kNotFound : kNotExecutable;
  ended(message.id, std::nullopt);
}

void StepRunner::check_limit() {
  uint64_t expired = 0;
  if (read(timer_.get(), &expired, sizeof expired) != sizeof expired || current_ < 0) return;
  all_[static_cast<size_t>(current_)].timed_out = true;
  const int number = killed_ ? SIGKILL : SIGTERM;
  killed_ = true;
  (void)hold_.send({.kind = FATHOM_HOLD_KILL, .id = current_, .value = number});
  set_timer(kGraceNs);
}

void StepRunner::attend() {
  while (const auto message = hold_.next()) hear(*message);
  check_limit();
}

void StepRunner::signal(int number) {
  const bool ends = number == SIGINT || number == SIGTERM || number == SIGKILL;
  stopping_ = stopping_ || ends;
  if (ends && status_ == 0) status_ = 128 + number;
  (void)hold_.send({.kind = FATHOM_HOLD_KILL, .id = -1, .value = number});
}

}  // namespace fathom
