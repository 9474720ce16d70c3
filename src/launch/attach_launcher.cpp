// SPDX-License-Identifier: Apache-2.0
#include "launch/attach_launcher.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/fd.h"
#include "base/proc.h"
#include "base/text.h"
#include "launch/cgroup_limits.h"
#include "launch/container/engine.h"
#include "launch/pidfd.h"

namespace fathom {
namespace {

class AttachedTarget final : public Target {
 public:
  explicit AttachedTarget(Scope scope) : scope_(std::move(scope)) { scope_.attached = true; }

  Status watch_roots() {
    poll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
    for (const int64_t pid : scope_.roots) {
      TRY_ASSIGN(Fd pidfd, open_pidfd(pid));
      epoll_event event{};
      event.events = EPOLLIN;
      if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, pidfd.get(), &event) != 0)
        return errno_error("watch process " + std::to_string(pid));
      roots_.push_back({pid, std::move(pidfd)});
    }
    return {};
  }
  void take_cgroup(Cgroup cgroup) {
    facts_.limits = cgroup_limits_text(cgroup);
    cgroup_ = std::move(cgroup);
  }
  [[nodiscard]] TargetFacts facts() const override { return facts_; }
  // Containers by their names, each with its first process and, where it can be seen, its cgroup.
  void take_container(const std::string& name, int64_t pid, std::unique_ptr<Cgroup> cgroup) {
    parts_.push_back({name, cgroup ? cgroup_limits_text(*cgroup) : "", pid, cgroup.get()});
    part_cgroups_.push_back(std::move(cgroup));
  }
  [[nodiscard]] std::vector<TargetPart> parts() const override { return parts_; }

  [[nodiscard]] int64_t pid() const override { return scope_.roots.empty() ? 0 : scope_.roots[0]; }
  [[nodiscard]] const Cgroup* cgroup() const override { return cgroup_ ? &*cgroup_ : nullptr; }
  [[nodiscard]] Scope scope() const override { return scope_; }
  Status go() override { return {}; }
  [[nodiscard]] int event_fd() const override { return poll_.get(); }
  std::vector<Departure> departures() override { return {}; }
  [[nodiscard]] bool lost() const override { return false; }
  [[nodiscard]] std::optional<int> end_status() const override { return end_status_; }
  void signal(int /*number*/) override {}
  void finish() override {}

  bool over() override {
    if (scope_.kind == Scope::Kind::kSystem) return false;
    if (scope_.kind == Scope::Kind::kCgroup) return !populated();
    epoll_event any{};  // asked of all at once, and one by one only if it is so
    if (epoll_wait(poll_.get(), &any, 1, 0) == 0) return roots_.empty();
    std::erase_if(roots_, [this](const Root& root) {
      if (!pidfd_ended(root.pidfd.get())) return false;
      if (scope_.roots.size() == 1) end_status_ = pidfd_end_status(root.pidfd.get(), root.pid);
      return true;  // closed, so the poll no longer tells of it
    });
    return roots_.empty();
  }

 private:
  struct Root {
    int64_t pid;
    Fd pidfd;
  };

  // The unified tree says it at once; where the processes are in a version-1 tree, they are looked
  // for.
  [[nodiscard]] bool populated() const {
    const auto events = read_file(cgroup_->unified() + "/cgroup.events");
    if (events.ok() && events.value().find("populated 1") != std::string::npos) return true;
    return !cgroup_->processes().empty();
  }

  Scope scope_;
  TargetFacts facts_;
  std::optional<Cgroup> cgroup_;
  Fd poll_;
  std::vector<Root> roots_;  // that still run
  std::optional<int> end_status_;
  std::vector<TargetPart> parts_;
  std::vector<std::unique_ptr<Cgroup>> part_cgroups_;
};

// The process that a thread is of, where `pid` is the id of a thread; 0: it is none.
int64_t process_of_thread(int64_t pid) {
  const std::string text = read_file(proc_folder(pid) + "/status").value_or("");
  const size_t at = text.find("\nTgid:");
  if (at == std::string::npos) return 0;
  const std::vector<int64_t> ids = parse_numbers(text.substr(at + 6, 24));
  return ids.empty() || ids[0] == pid ? 0 : ids[0];
}

// Whether it can be profiled; the error says why not and what to do.
Status check_process(int64_t pid) {
  const std::string id = std::to_string(pid);
  if (pid == getpid())
    return Error{Code::kInvalid, "process " + id + " is this fathom itself", "name another one"};
  const auto stat = read_proc_stat(proc_folder(pid));
  if (!stat.ok()) return Error{Code::kNotFound, "there is no process " + id, "ps -e lists them"};
  const std::string who = "process " + id + " (" + stat.value().name + ")";
  if (const int64_t process = process_of_thread(pid); process != 0) {
    return Error{Code::kInvalid, id + " is a thread of process " + std::to_string(process),
                 "fathom run --pid " + std::to_string(process)};
  }
  if (stat.value().is_kernel_thread) {
    return Error{Code::kInvalid, who + " is a thread of the kernel",
                 "fathom run --system records the whole host"};
  }
  if (stat.value().state == 'Z' || stat.value().state == 'X') {
    return Error{Code::kInvalid,
                 who + " has ended; its parent, process " + std::to_string(stat.value().ppid) +
                     ", has not taken notice yet",
                 "name one that runs"};
  }
  if (const auto io = read_proc_io(proc_folder(pid)); !io.ok()) {
    return Error{
        Code::kPermission, who + " is another user's, or protected from you",
        geteuid() == 0 ? "in a container: run fathom on the host" : "sudo fathom run --pid " + id};
  }
  return {};
}

Result<std::vector<int64_t>> parse_pids(std::string_view text) {
  std::vector<int64_t> pids;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    int64_t pid = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), pid);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size() || pid <= 0 ||
        pid > INT32_MAX) {
      return Error{Code::kInvalid, "'" + std::string(word) + "' is no process id",
                   "fathom run --pid 123, or 123,456"};
    }
    if (std::find(pids.begin(), pids.end(), pid) == pids.end()) pids.push_back(pid);
  }
  if (pids.empty())
    return Error{Code::kInvalid, "no process id to attach to", "fathom run --pid 123"};
  return pids;
}

std::string title_of(const std::vector<int64_t>& pids) {
  std::string title;
  for (const int64_t pid : pids) {
    const std::string name = read_proc_name(proc_folder(pid)).value_or("?");
    title += (title.empty() ? "" : ", ") + std::to_string(pid) + " (" + name + ")";
  }
  return (pids.size() == 1 ? "pid " : "pids ") + title;
}

// Without where cgroups always are: titles stand in narrow places.
std::string title_of(const Cgroup& cgroup) {
  constexpr std::string_view kUsualPlace = "/sys/fs/cgroup/";
  std::string_view folder = cgroup.any_folder();
  if (folder.starts_with(kUsualPlace)) folder.remove_prefix(kUsualPlace.size());
  return "cgroup " + std::string(folder);
}

}  // namespace

Result<std::unique_ptr<Target>> attach_pid(const LaunchRequest& request) {
  TRY_ASSIGN(std::vector<int64_t> pids, parse_pids(request.attach_to));
  for (const int64_t pid : pids) TRY(check_process(pid));
  const std::string title = title_of(pids);
  auto target = std::make_unique<AttachedTarget>(Scope{
      .kind = Scope::Kind::kTree, .roots = std::move(pids), .attached = true, .title = title});
  TRY(target->watch_roots());
  return std::unique_ptr<Target>(std::move(target));
}

Result<std::unique_ptr<Target>> attach_cgroup(const LaunchRequest& request) {
  TRY_ASSIGN(Cgroup cgroup, Cgroup::find(request.attach_to));
  if (cgroup.processes().empty()) {
    return Error{Code::kNotFound, "no process is in cgroup " + request.attach_to,
                 "start something there first"};
  }
  auto target = std::make_unique<AttachedTarget>(Scope{
      .kind = Scope::Kind::kCgroup, .roots = {}, .attached = true, .title = title_of(cgroup)});
  cgroup.limit_by_itself();
  target->take_cgroup(std::move(cgroup));
  return std::unique_ptr<Target>(std::move(target));
}

Result<std::unique_ptr<Target>> attach_container(const LaunchRequest& request) {
  TRY_ASSIGN(Engine engine, Engine::open());
  std::vector<int64_t> pids;
  std::vector<std::string> each, ids;
  for (const std::string_view name : split_words(request.attach_to, ',')) {
    TRY_ASSIGN(const EngineContainer container, engine.inspect(std::string(name)));
    if (!container.running || container.pid <= 0)
      return Error{Code::kNotFound, "container " + printable(container.name) + " does not run",
                   "fathom run --image IMAGE starts one"};
    pids.push_back(container.pid);
    ids.push_back(container.id);
    each.push_back(printable(container.name));
  }
  if (pids.empty()) return Error{Code::kInvalid, "no container to attach to", "--container NAME"};
  // Several have no cgroup in common that is theirs alone: their processes are followed.
  const bool one = pids.size() == 1;
  auto target = std::make_unique<AttachedTarget>(
      Scope{.kind = one ? Scope::Kind::kCgroup : Scope::Kind::kTree,
            .roots = one ? std::vector<int64_t>() : pids,
            .attached = true,
            .reaped = true,
            .title = (one ? "container " : "containers ") + join(each, ", ")});
  for (size_t i = 0; i < pids.size(); ++i) {
    auto own = Cgroup::find_container(pids[i], ids[i]);
    target->take_container(each[i], pids[i],
                           own.ok() ? std::make_unique<Cgroup>(std::move(own).value()) : nullptr);
  }
  if (!one) {
    TRY(target->watch_roots());
    return std::unique_ptr<Target>(std::move(target));
  }
  TRY_ASSIGN(Cgroup cgroup, Cgroup::find_container(pids[0], ids[0]));
  target->take_cgroup(std::move(cgroup));
  return std::unique_ptr<Target>(std::move(target));
}

Result<std::unique_ptr<Target>> attach_system(const LaunchRequest& /*request*/) {
  return std::unique_ptr<Target>(std::make_unique<AttachedTarget>(
      Scope{.kind = Scope::Kind::kSystem, .roots = {}, .attached = true, .title = "this host"}));
}

}  // namespace fathom
