// SPDX-License-Identifier: Apache-2.0
#include "launch/container/compose_launcher.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/text.h"
#include "launch/container/compose.h"
#include "launch/container/container_target.h"

namespace fathom {
namespace {

constexpr int64_t kStopGraceNs = 10 * kNsPerSecond;  // from the stop signal to KILL
constexpr int64_t kHealthNs = 200 * kNsPerMs;        // between looks at a service's health
constexpr int kNotFound = 127;

class ComposeTarget final : public Target {
 public:
  ComposeTarget(const LaunchRequest& launch, const ComposeProject& project, Engine engine)
      : launch_(launch), project_(project), engine_(std::move(engine)) {}
  ~ComposeTarget() override { finish(); }
  ComposeTarget(const ComposeTarget&) = delete;
  ComposeTarget& operator=(const ComposeTarget&) = delete;

  Status make();

  [[nodiscard]] int64_t pid() const override { return services_[0].target->pid(); }
  [[nodiscard]] const Cgroup* cgroup() const override { return cgroup_ ? &*cgroup_ : nullptr; }
  [[nodiscard]] Scope scope() const override;
  Status go() override;
  [[nodiscard]] int event_fd() const override { return events_.get(); }
  std::vector<Departure> departures() override;
  [[nodiscard]] bool lost() const override { return false; }
  [[nodiscard]] TargetFacts facts() const override;
  [[nodiscard]] std::vector<TargetPart> parts() const override;
  std::string end_note() override;
  void signal(int number) override;
  void finish() override;

 private:
  using Until = ComposeDependency::Until;
  struct Service {
    const ComposeService* wanted;
    std::unique_ptr<ContainerTarget> target;
    bool awaited = true;  // nobody depends on it: the run is as long as it is
    bool released = false, running = false, ended = false, stopped = false;
    int status = 0;  // as wait(2)
  };

  Status make_cgroup();
  Status make_shared();
  Status make_service(const ComposeService& wanted);
  Status watch(int fd) const;
  Service* find(const std::string& name);
  Status let_go(Service& service);
  // Lets those go whose conditions are met; false: somebody waits for a service's health.
  bool release();
  enum class Met { kYes, kNotYet, kNever };
  Met met(const ComposeDependency& dependency);
  void note_end(Service& service, int status, bool by_itself);
  void stop_the_rest();
  void set_timer(int64_t delay_ns) const;

  LaunchRequest launch_;
  const ComposeProject& project_;
  Engine engine_;
  std::optional<Cgroup> cgroup_;
  std::vector<Service> services_;
  std::map<std::string, std::string> networks_;  // of the file: the engine's
  std::vector<std::string> own_networks_, own_volumes_;
  Fd events_, timer_;
  std::optional<int> failed_;  // as wait(2), of the first that failed by itself
  bool stopping_ = false, told_ = false, asked_ = false;
};

Status ComposeTarget::make_cgroup() {
  if (geteuid() != 0) return {};
  TRY_ASSIGN(const std::string driver, engine_.cgroup_driver());
  if (driver != "cgroupfs") return {};
  if (auto made = Cgroup::create_above_containers(launch_.run_label); made.ok())
    cgroup_ = std::move(made).value();
  return {};
}

// Networks of the run's own, and volumes that are not there yet.
Status ComposeTarget::make_shared() {
  for (const ComposeShared& network : project_.networks) {
    networks_[network.name] = network.actual;
    if (network.external) continue;
    const std::string name = fmt::format("fathom-{}-{}", launch_.run_label, network.name);
    TRY_ASSIGN(networks_[network.name],
               engine_.create_network(name, launch_.run_label, network.internal));
    own_networks_.push_back(networks_[network.name]);
    networks_[network.name] = name;
  }
  for (const ComposeShared& volume : project_.volumes) {
    TRY_ASSIGN(const bool there, engine_.has_volume(volume.actual));
    if (there) continue;
    if (volume.external)
      return Error{Code::kInvalid, "there is no volume " + printable(volume.actual),
                   "docker volume create " + shell_quote(volume.actual)};
    own_volumes_.push_back(volume.actual);
    TRY(engine_.create_volume(volume.actual, launch_.run_label));
  }
  return {};
}

ComposeTarget::Service* ComposeTarget::find(const std::string& name) {
  const auto found = std::find_if(services_.begin(), services_.end(), [&](const Service& service) {
    return service.wanted->name == name;
  });
  return found == services_.end() ? nullptr : &*found;
}

Status ComposeTarget::make_service(const ComposeService& wanted) {
  ContainerRequest request = wanted.request;
  std::vector<std::string> more;
  if (request.network.starts_with("service:")) {
    const Service* other = find(request.network.substr(8));
    if (other != nullptr) request.network = "container:" + other->target->id();
  }
  for (size_t i = 0; i < request.networks.size(); ++i) {
    const std::string& actual = networks_[request.networks[i]];
    if (i == 0)
      request.network = actual;
    else
      more.push_back(actual);
  }
  services_.push_back({&wanted, nullptr});
  auto target = std::make_unique<ContainerTarget>(launch_, std::move(request), engine_.again());
  if (cgroup_) {
    TRY_ASSIGN(Cgroup below, cgroup_->create_below(fmt::format("s{}", services_.size())));
    target->place_in(std::move(below));
  }
  services_.back().target = std::move(target);
  ContainerTarget& made = *services_.back().target;
  TRY(made.make());
  for (const std::string& network : more)
    TRY(engine_.connect(network, made.id(), wanted.request.aliases));
  return made.begin_start();
}

Status ComposeTarget::make() {
  events_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  timer_ = Fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!events_.valid() || !timer_.valid()) return errno_error("watch the services");
  TRY(make_cgroup());
  TRY(make_shared());
  const auto named = [](Status done, const std::string& name) {
    return done.ok() ? done : Status(std::move(done).error().within("service " + name));
  };
  services_.reserve(project_.services.size());
  for (const ComposeService& wanted : project_.services) {
    TRY(named(make_service(wanted), wanted.name));
    // One whose network another joins must have started.
    TRY(named(services_.back().target->await_hold(), wanted.name));
  }
  for (Service& service : services_) {
    if (cgroup_) cgroup_->add_limited(service.target->pid(), service.target->id());
    TRY(watch(service.target->event_fd()));
    for (const ComposeDependency& dependency : service.wanted->depends_on)
      find(dependency.service)->awaited = false;
  }
  return watch(timer_.get());
}

Status ComposeTarget::watch(int fd) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return errno_error("watch a service");
  return {};
}

Scope ComposeTarget::scope() const {
  Scope scope{
      .kind = Scope::Kind::kTree, .roots = {}, .attached = false, .reaped = false, .title = {}};
  for (const Service& service : services_) scope.roots.push_back(service.target->pid());
  return scope;
}

std::vector<TargetPart> ComposeTarget::parts() const {
  std::vector<TargetPart> parts;
  for (const Service& service : services_) {
    TargetPart part = service.target->parts().at(0);
    part.name = service.wanted->name;
    parts.push_back(std::move(part));
  }
  return parts;
}

TargetFacts ComposeTarget::facts() const {
  TargetFacts all;
  all.notes = project_.notes;
  std::vector<std::string> digests, containers;
  size_t without = 0;
  const bool wanted =
      std::any_of(launch_.environment.begin(), launch_.environment.end(),
                  [](const std::string& setting) { return setting.starts_with("LD_PRELOAD="); });
  for (const Service& service : services_) {
    const TargetFacts facts = service.target->facts();
    const std::string& name = service.wanted->name;
    digests.push_back(name + "=" + facts.image_digest);
    containers.push_back(facts.container);
    for (const std::string& note : facts.notes)
      all.notes.push_back(fmt::format("{}: {}", name, note));
    if (facts.no_library.empty()) continue;
    ++without;
    all.no_library = facts.no_library;
    if (wanted)
      all.notes.push_back(fmt::format("{}: no library is put into it, {}", name, facts.no_library));
  }
  if (without < services_.size()) all.no_library.clear();
  all.image_digest = join(digests, ",");
  all.container = join(containers, ",");
  return all;
}

Status ComposeTarget::let_go(Service& service) {
  service.released = service.running = true;
  Status gone = service.target->go();
  return gone.ok() ? gone
                   : Status(std::move(gone).error().within("service " + service.wanted->name));
}

ComposeTarget::Met ComposeTarget::met(const ComposeDependency& dependency) {
  const Service& other = *find(dependency.service);
  const bool good = other.ended && other.status == 0;
  switch (dependency.until) {
    case Until::kStarted:
      return other.running ? Met::kYes : other.ended ? Met::kNever : Met::kNotYet;
    case Until::kCompleted:
      return good ? Met::kYes : other.ended ? Met::kNever : Met::kNotYet;
    case Until::kHealthy:
      break;
  }
  if (other.ended) return Met::kNever;
  if (!other.running) return Met::kNotYet;
  const auto now = engine_.inspect(other.target->id());
  return now.ok() && now.value().health == "healthy" ? Met::kYes : Met::kNotYet;
}

Status ComposeTarget::go() {
  for (Service& service : services_) {
    bool ready = true;
    for (const ComposeDependency& dependency : service.wanted->depends_on)
      ready = ready && met(dependency) == Met::kYes;
    if (ready) TRY(let_go(service));
  }
  set_timer(kHealthNs);
  return {};
}

bool ComposeTarget::release() {
  bool waits = false;
  for (Service& service : services_) {
    if (service.running || service.ended || stopping_ || asked_) continue;
    Met worst = Met::kYes;
    for (const ComposeDependency& dependency : service.wanted->depends_on) {
      worst = std::max(worst, met(dependency));
      waits = waits || dependency.until == Until::kHealthy;
    }
    if (worst == Met::kNever) note_end(service, W_EXITCODE(0, 0), false);
    if (worst != Met::kYes) continue;
    if (!let_go(service).ok()) note_end(service, W_EXITCODE(kNotFound, 0), true);
  }
  return waits;
}

void ComposeTarget::note_end(Service& service, int status, bool by_itself) {
  service.ended = true;
  service.running = false;
  service.status = status;
  if (by_itself && status != 0 && !failed_) failed_ = status;
  if (service.target->event_fd() >= 0)
    (void)epoll_ctl(events_.get(), EPOLL_CTL_DEL, service.target->event_fd(), nullptr);
}

void ComposeTarget::set_timer(int64_t delay_ns) const {
  itimerspec when{};
  when.it_value.tv_sec = delay_ns / kNsPerSecond;
  when.it_value.tv_nsec = delay_ns % kNsPerSecond;
  (void)timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void ComposeTarget::stop_the_rest() {
  int64_t grace_ns = 0;
  for (Service& service : services_) {
    if (!service.running) continue;
    const ContainerRequest& request = service.target->request();
    service.stopped = true;
    service.target->signal(stopping_ ? SIGKILL : request.stop_signal);
    grace_ns = std::max(grace_ns, request.stop_grace_ns > 0 ? request.stop_grace_ns : kStopGraceNs);
  }
  stopping_ = true;
  if (grace_ns > 0) set_timer(grace_ns);
}

std::vector<Departure> ComposeTarget::departures() {
  std::vector<Departure> all;
  for (Service& service : services_) {
    if (!service.running) continue;
    for (Departure& departure : service.target->departures()) {
      departure.is_main = false;
      note_end(service, departure.status, !service.stopped);
      all.push_back(departure);
    }
  }
  uint64_t expired = 0;
  const bool late = read(timer_.get(), &expired, sizeof expired) == sizeof expired;
  if (release()) set_timer(kHealthNs);
  const auto over = [](const Service& service) { return !service.awaited || service.ended; };
  const auto runs = [](const Service& service) { return service.running; };
  const bool left = std::any_of(services_.begin(), services_.end(), runs);
  if (left && std::all_of(services_.begin(), services_.end(), over) && (!stopping_ || late))
    stop_the_rest();
  const bool waits = std::any_of(services_.begin(), services_.end(), [&](const Service& service) {
    return !service.ended && !service.running && !stopping_ && !asked_;
  });
  if (left || waits || told_) return all;
  told_ = true;
  Departure end;
  end.is_main = true;
  end.has_figures = false;
  end.time_ns = monotonic_ns();
  end.status = failed_.value_or(0);
  all.push_back(end);
  return all;
}

std::string ComposeTarget::end_note() {
  for (const Service& service : services_)
    if (service.released)
      if (std::string note = service.target->end_note(); !note.empty()) return note;
  return {};
}

void ComposeTarget::signal(int number) {
  const bool ends = number == SIGINT || number == SIGTERM || number == SIGKILL;
  asked_ = asked_ || ends;
  for (Service& service : services_)
    if (service.running) service.target->signal(number);
  if (ends) set_timer(kNsPerMs);  // nobody may run, and then nothing would be heard of
}

void ComposeTarget::finish() {
  services_.clear();
  for (const std::string& network : std::exchange(own_networks_, {}))
    (void)engine_.remove_network(network);
  for (const std::string& volume : std::exchange(own_volumes_, {}))
    (void)engine_.remove_volume(volume);
  if (cgroup_) cgroup_->remove();
  cgroup_.reset();
}

}  // namespace

Result<std::unique_ptr<Target>> launch_compose(const LaunchRequest& request) {
  if (!request.container || !request.container->compose)
    return Error{Code::kInternal, "no compose file was given"};
  TRY_ASSIGN(Engine engine, Engine::open());
  auto target =
      std::make_unique<ComposeTarget>(request, *request.container->compose, std::move(engine));
  TRY(target->make());
  return std::unique_ptr<Target>(std::move(target));
}

}  // namespace fathom
