// SPDX-License-Identifier: Apache-2.0
#include "launch/container/container_target.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/clock.h"
#include "base/install.h"
#include "base/text.h"
#include "launch/container/container_request.h"
#include "launch/container/dataset_hash.h"
#include "launch/container/engine.h"
#include "launch/container/hold_channel.h"
#include "launch/container/step_runner.h"
#include "launch/pidfd.h"

namespace fathom {
namespace {

constexpr int kPollMs = 100;                    // between looks for a pressed Ctrl-C
constexpr int64_t kCallNs = 10 * kNsPerSecond;  // from the engine's start to hold's call

// The user, or whoever runs us, wants it to end before it has begun. Signals are blocked while a
// run is set up.
bool interrupted() {
  sigset_t asked;
  sigemptyset(&asked);
  sigaddset(&asked, SIGINT);
  sigaddset(&asked, SIGTERM);
  const timespec now{};
  return sigtimedwait(&asked, nullptr, &now) > 0;
}

}  // namespace

// The engine's start, on a thread of its own: hold calls before the engine has answered.
class ContainerStart {
 public:
  static Result<std::unique_ptr<ContainerStart>> begin(const Engine& engine,
                                                       const std::string& id) {
    TRY_ASSIGN(auto pipe, make_pipe());
    auto starting = std::unique_ptr<ContainerStart>(new ContainerStart());
    starting->done_ = std::move(pipe.first);
    starting->thread_ = std::thread([raw = starting.get(), engine = engine.again(), id,
                                     end = std::move(pipe.second)]() mutable {
      raw->result_ = engine.start(id);
      end.reset();
    });
    return starting;
  }
  ~ContainerStart() { (void)wait(); }
  ContainerStart(const ContainerStart&) = delete;
  ContainerStart& operator=(const ContainerStart&) = delete;

  [[nodiscard]] int fd() const { return done_.get(); }
  const Status& wait() {
    if (thread_.joinable()) thread_.join();
    return result_;
  }

 private:
  ContainerStart() = default;
  Fd done_;
  Status result_;
  std::thread thread_;
};

ContainerTarget::ContainerTarget(const LaunchRequest& launch, ContainerRequest request,
                                 Engine engine)
    : launch_(launch), request_(std::move(request)), engine_(std::move(engine)) {}

ContainerTarget::~ContainerTarget() { finish(); }

void ContainerTarget::place_in(Cgroup cgroup) {
  cgroup_ = std::move(cgroup);
  own_cgroup_ = true;
}

std::vector<TargetPart> ContainerTarget::parts() const {
  return {
      {request_.name.empty() ? facts_.container : request_.name, facts_.limits, pid(), cgroup()}};
}

Status ContainerTarget::make_cgroup() {
  if (cgroup_ || geteuid() != 0) return {};
  TRY_ASSIGN(const std::string driver, engine_.cgroup_driver());
  if (driver != "cgroupfs") return {};  // systemd makes all of them, and takes paths for slices
  auto made = Cgroup::create_above_containers(launch_.run_label);
  if (!made.ok()) return {};
  cgroup_ = std::move(made).value();
  own_cgroup_ = true;
  return {};
}

std::vector<ContainerMount> ContainerTarget::own_mounts(const std::string& hold_program) const {
  std::vector<ContainerMount> mounts = {{hold_program, FATHOM_HOLD_FOLDER "/hold", true},
                                        {hold_->folder(), FATHOM_HOLD_FOLDER "/run", true}};
  for (const LaunchRequest::Share& share : launch_.shares)
    mounts.push_back({share.path, share.inside, !share.writable});
  if (!request_.script.empty())
    mounts.push_back({request_.script, FATHOM_HOLD_FOLDER "/instructions", true});
  return mounts;
}

// What the image, or the user, has in such a list stays there: preloaded before ours, searched for
// Python's modules after.
std::vector<std::string> ContainerTarget::environment_for(const EngineImage& image) const {
  std::vector<std::string> environment = launch_.environment;
  const auto merge = [&](const std::string& name, bool ours_last) {
    std::string theirs;
    for (const auto* known : {&image.environment, &request_.environment})
      for (const std::string& setting : *known)
        if (setting.starts_with(name)) theirs = setting.substr(name.size());
    for (std::string& setting : environment) {
      if (!setting.starts_with(name) || theirs.empty()) continue;
      if (ours_last)
        setting.insert(name.size(), theirs + ":");
      else
        setting += ":" + theirs;
    }
  };
  merge("LD_PRELOAD=", true);
  merge("PYTHONPATH=", false);
  return environment;
}

Status ContainerTarget::make() {
  TRY_ASSIGN(const EngineImage image, engine_.image(request_.image));
  TRY_ASSIGN(const std::string program, find_installed("lib/fathom-hold"));
  command_ = request_.script.empty() ? command_of(request_, image)
                                     : std::vector<std::string>{FATHOM_HOLD_FOLDER "/instructions"};
  if (!request_.script.empty())
    command_.insert(command_.end(), request_.arguments.begin(), request_.arguments.end());
  if (command_.empty() && request_.steps.empty())
    return Error{Code::kInvalid, "image " + printable(request_.image) + " names no command to run",
                 "fathom run --image " + shell_quote(request_.image) + " -- COMMAND"};
  TRY_ASSIGN(hold_, HoldChannel::listen());
  TRY(make_cgroup());
  facts_.image_digest = image.digest;
  facts_.limits = limits_text(request_.limits);
  if (!request_.dataset.empty()) facts_.dataset_hash = dataset_hash(request_.dataset);
  ContainerMaking making;
  making.command = command_;
  making.environment = environment_for(image);
  making.mounts = own_mounts(program);
  making.cgroup_parent = cgroup_ ? cgroup_->path() : "";
  making.run = launch_.run_label;
  making.recorder = recorder_mark();
  TRY_ASSIGN(id_, engine_.create(request_.name, create_body(request_, making)));
  facts_.container = id_.substr(0, 12);
  return note_volumes();
}

// The engine alone knows where a named volume lies on this machine.
Status ContainerTarget::note_volumes() {
  bool any = false;
  for (const ContainerMount& mount : request_.mounts)
    any = any || (!mount.source.empty() && !mount.source.starts_with('/'));
  if (!any) return {};
  TRY_ASSIGN(const EngineContainer made, engine_.inspect(id_));
  for (const EngineContainer::Mount& mount : made.mounts) {
    if (mount.type == "volume" && !mount.source.empty())
      facts_.notes.push_back(fmt::format("volume {} ({} inside) is {} on this machine",
                                         printable(mount.name), printable(mount.target),
                                         printable(mount.source)));
  }
  return {};
}

Status ContainerTarget::begin_start() {
  TRY_ASSIGN(starting_, ContainerStart::begin(engine_, id_));
  return {};
}

Status ContainerTarget::await_hold() {
  int64_t started_ns = 0;
  while (true) {
    if (interrupted()) return Error{Code::kInterrupted, "interrupted before the container started"};
    pollfd ready[2] = {{hold_->fd(), POLLIN, 0},
                       {started_ns == 0 ? starting_->fd() : -1, POLLIN, 0}};
    (void)poll(ready, 2, kPollMs);
    if ((ready[0].revents & POLLIN) != 0) break;
    if (ready[1].revents != 0) {
      TRY(starting_->wait());
      started_ns = monotonic_ns();
    }
    if (started_ns == 0 || monotonic_ns() - started_ns < kCallNs / 10) continue;
    TRY_ASSIGN(const EngineContainer now, engine_.inspect(id_));
    if (!now.running || monotonic_ns() - started_ns > kCallNs)
      return Error{
          Code::kUnsupported,
          fmt::format("the container does not call its recorder (status {})", now.exit_code),
          "fathom must be on the engine's own machine, not in another container"};
  }
  TRY_ASSIGN(const fathom_hold_message hello, hold_->take_call());
  note_libraries(hello.value);
  if (!cgroup_) {
    if (auto found = Cgroup::find_container(pid(), id_); found.ok())
      cgroup_ = std::move(found).value();
  } else {
    cgroup_->add_limited(pid(), id_);
  }
  TRY_ASSIGN(pidfd_, open_pidfd(pid()));
  events_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  return watch(pidfd_.get());
}

void ContainerTarget::note_libraries(int32_t found) {
  const bool glibc = (found & FATHOM_HOLD_GLIBC) != 0;
  if ((found & FATHOM_HOLD_PROGRAM_MUSL) != 0 || ((found & FATHOM_HOLD_MUSL) != 0 && !glibc))
    facts_.no_library = "the image is of musl, and the library of glibc";
  else if (!glibc)
    facts_.no_library = "the image has no glibc, which the library needs";
}

Status ContainerTarget::watch(int fd) const {
  epoll_event event{};
  event.events = EPOLLIN;
  if (epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return errno_error("watch the container");
  return {};
}

Error ContainerTarget::start_failure(const fathom_hold_message& failed) const {
  const std::string word = printable(command_[0]);
  if (failed.value == ENOENT && !request_.script.empty())
    return Error{
        Code::kCommandNotFound, "the image has nothing that executes the instructions",
        "the first line names it, such as #!/bin/sh; or write steps: docs/formats/steps.md"};
  if (failed.value == ENOENT)
    return Error{Code::kCommandNotFound, word + ": not found in the image",
                 "check the spelling and PATH"};
  Error error = errno_error(word, failed.value);
  if (failed.value == EACCES && !request_.script.empty())
    error.hint = "chmod a+rx " + shell_quote(request_.script);
  return of_command(std::move(error));
}

Status ContainerTarget::go() {
  const bool steps = !request_.steps.empty();
  HoldChannel::Order order{.kind = steps ? FATHOM_HOLD_STAY : FATHOM_HOLD_GO};
  order.flags = facts_.no_library.empty() ? 0 : FATHOM_HOLD_NO_PRELOAD;
  order.with_descriptors = true;
  TRY(hold_->send(order));
  if (steps) {
    steps_ = std::make_unique<StepRunner>(*hold_, request_.steps, command_);
    TRY(watch(hold_->fd()));
    TRY(watch(steps_->timer_fd()));
    return steps_->begin();
  }
  const auto failed = hold_->wait();
  return failed ? Status(start_failure(*failed)) : Status();
}

std::vector<Departure> ContainerTarget::departures() {
  if (steps_) steps_->attend();
  if (departed_ || !pidfd_ended(pidfd_.get())) return {};
  departed_ = true;
  if (steps_) {
    steps_->attend();  // its last messages may have arrived since
    steps_->container_ended();
  }
  out_of_memory_ = killed_for_memory();
  Departure departure;
  departure.pid = pid();
  departure.is_main = true;
  departure.has_figures = false;
  departure.time_ns = monotonic_ns();
  const auto status = pidfd_end_status(pidfd_.get(), pid());
  if (status) {
    departure.status = *status;
    return {departure};
  }
  // Kernels before 6.15 forget it with the process; the engine knows, with signals as 128 and more.
  const int64_t code = engine_.wait(id_).value_or(0);
  departure.status = code > 128 && code < 128 + 65 ? static_cast<int>(code - 128)
                                                   : W_EXITCODE(static_cast<int>(code), 0);
  return {departure};
}

// Read at once when the first process has ended: the engine removes the container's own cgroup.
bool ContainerTarget::killed_for_memory() const {
  if (!cgroup_) return false;
  std::vector<std::string> files = {cgroup_->unified() + "/memory.events"};
  for (const Cgroup::Limited& limited : cgroup_->limited())
    files.push_back(limited.memory + "/memory.oom_control");
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    const std::string text = "\n" + read_file(file).value_or("");
    const size_t at = text.find("\noom_kill ");
    return at != std::string::npos && text[at + 10] != '0';
  });
}

// The engine hears of the end later than we do, and of memory later still.
std::string ContainerTarget::end_note() {
  if (out_of_memory_) return "oom";
  if (id_.empty() || !engine_.wait(id_).ok()) return {};
  const auto now = engine_.inspect(id_);
  return now.ok() && now.value().oom_killed ? "oom" : "";
}

void ContainerTarget::signal(int number) {
  if (departed_) return;
  if (steps_ && number != SIGKILL) return steps_->signal(number);
  const auto sent =
      syscall(SYS_pidfd_send_signal, pidfd_.get(), number, static_cast<void*>(nullptr), 0U);
  if (sent != 0 && errno == EPERM) (void)engine_.kill(id_, number);
}

void ContainerTarget::finish() {
  starting_.reset();  // what has not started cannot be removed for good
  if (!id_.empty()) (void)engine_.remove(id_);
  id_.clear();
  if (own_cgroup_ && cgroup_) cgroup_->remove();
  own_cgroup_ = false;
}

}  // namespace fathom
