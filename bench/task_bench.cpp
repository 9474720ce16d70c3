// SPDX-License-Identifier: Apache-2.0
// What watching a process tree takes to attach, and adds to a fork, an exec and a context switch of
// the target: the same work unwatched, watched by BPF and by perf_event, interleaved in one run.
//
//   build/release/bench/task_bench [ROUNDS]      (41 unless told; root for the BPF rung)
//
// Times are CPU time of the worker and its children, all on one CPU, which a busy machine disturbs
// less than the clock on the wall. Each figure is the median over the rounds; "added" is the median
// of what a round cost more than the unwatched one beside it, with the quartiles of that.
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/install.h"
#include "probe/resources/task_source.h"

namespace fathom {
namespace {

constexpr int kWarmUps = 20;
constexpr int kForks = 200;
constexpr int kExecs = 100;
constexpr int kTrips = 5'000;

struct Silent final : TaskListener {
  void on_task(const TaskEvent& /*event*/) override {}
};

double used_us() {
  double sum = 0;
  for (const auto whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(whose, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      sum += static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  }
  return sum;
}

void fork_and_wait() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
}

// A small static program: it finds no arguments and goes.
void exec_and_wait(const std::string& program) {
  const pid_t child = vfork();
  if (child == 0) {
    execl(program.c_str(), program.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  waitpid(child, nullptr, 0);
}

struct Pipe {
  Fd from, to;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return;
    from = Fd(ends[0]);
    to = Fd(ends[1]);
  }
  template <class Value>
  void pass(const Value& value) const {
    (void)!write(to.get(), &value, sizeof value);
  }
  template <class Value>
  [[nodiscard]] bool take(Value& value) const {
    return read(from.get(), &value, sizeof value) == sizeof value;
  }
};

// A process of ours that does `act` and is gone, at the latest with this object.
class Child {
 public:
  explicit Child(const std::function<void()>& act) : pid_(fork()) {
    if (pid_ != 0) return;
    act();
    _exit(0);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

void stay_on_one_cpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
}

// Two processes that hand a byte to and fro: two switches a trip.
void ping_pong() {
  const Pipe there;
  const Pipe back;
  char byte = 0;
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < kTrips && there.take(byte); ++i) back.pass(byte);
    _exit(0);
  }
  for (int i = 0; i < kTrips; ++i) {
    there.pass(byte);
    if (!back.take(byte)) break;
  }
  waitpid(child, nullptr, 0);
}

struct Work {
  const char* name;
  int count;
  std::function<void()> act;  // all of it
};

using Watch = Result<std::unique_ptr<TaskSource>> (*)(int64_t root);
struct Variant {
  const char* name;
  Watch watch;     // nullptr: nobody watches
  bool elsewhere;  // watches another tree
};

// Microseconds each, or an error. The worker waits until it is watched.
Result<double> measure(const Work& work, const Variant& variant) {
  const Pipe start;
  const Pipe result;
  const Child worker([&] {
    char go = 0;
    if (!start.take(go)) return;
    stay_on_one_cpu();
    for (int i = 0; i < kWarmUps; ++i) fork_and_wait();
    const double before = used_us();
    work.act();
    result.pass((used_us() - before) / work.count);
  });
  const Child other([] { pause(); });
  std::unique_ptr<TaskSource> source;
  if (variant.watch != nullptr) {
    TRY_ASSIGN(source, variant.watch(variant.elsewhere ? other.pid() : worker.pid()));
  }
  start.pass('g');
  double each = 0;
  if (!result.take(each)) return errno_error("run the worker");
  Silent silent;
  if (source) source->drain(silent);
  return each;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

constexpr std::array kVariants = {
    Variant{"nobody watches", nullptr, false},
    Variant{"bpf", watch_tasks_by_bpf, false},
    Variant{"bpf, another tree", watch_tasks_by_bpf, true},
    Variant{"perf", watch_tasks_by_perf, false},
};

void compare(const Work& work, int rounds) {
  std::array<std::vector<double>, kVariants.size()> each;
  std::array<std::string, kVariants.size()> trouble;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < kVariants.size(); ++i) {
      const auto took = measure(work, kVariants[i]);
      if (took.ok()) {
        each[i].push_back(took.value());
      } else {
        trouble[i] = took.error().message;
      }
    }
  }
  fmt::print("{}, {} in each of {} rounds\n", work.name, work.count, rounds);
  const double bare = quantile(each[0], 0.5);
  for (size_t i = 0; i < kVariants.size(); ++i) {
    if (each[i].size() != each[0].size()) {
      fmt::print("  {:<20} not measured: {}\n", kVariants[i].name, trouble[i]);
      continue;
    }
    std::vector<double> added;
    for (size_t k = 0; k < each[i].size(); ++k) added.push_back(each[i][k] - each[0][k]);
    const double median = quantile(each[i], 0.5);
    fmt::print("  {:<20}{:>9.2f} µs {:>6.2f}x", kVariants[i].name, median, median / bare);
    if (i > 0) {
      fmt::print("   added {:>6.2f} µs ({:.2f} to {:.2f})", quantile(added, 0.5),
                 quantile(added, 0.25), quantile(added, 0.75));
    }
    fmt::print("\n");
  }
}

// What it takes to begin, before the target's first instruction, and to end.
void attach(const Variant& variant, int rounds) {
  std::vector<double> cpu_ms;
  std::vector<double> wall_ms;
  for (int round = 0; round < rounds; ++round) {
    const Child child([] { pause(); });
    const int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const int64_t wall = monotonic_ns();
    auto source = variant.watch(child.pid());
    if (!source.ok()) return fmt::print("  {:<20} {}\n", variant.name, source.error().message);
    wall_ms.push_back(static_cast<double>(monotonic_ns() - wall) / 1e6);
    source.value().reset();
    cpu_ms.push_back(static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e6);
  }
  fmt::print("  {:<20}{:>9.2f} ms to attach, {:.2f} ms of CPU with letting go\n", variant.name,
             quantile(wall_ms, 0.5), quantile(cpu_ms, 0.5));
}

int main_of(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 41;
  const auto found = find_installed("lib/fathom-spawn");
  if (!found.ok()) {
    fmt::print(stderr, "{}\n", found.error().message);
    return 1;
  }
  const std::string& program = found.value();
  const std::array works = {
      Work{"fork, exit and wait", kForks,
           [] {
             for (int i = 0; i < kForks; ++i) fork_and_wait();
           }},
      Work{"vfork, exec, exit and wait", kExecs,
           [&program] {
             for (int i = 0; i < kExecs; ++i) exec_and_wait(program);
           }},
      Work{"context switch", 2 * kTrips, ping_pong},
  };
  fmt::print("attach, {} rounds\n", rounds);
  for (const Variant& variant : kVariants) {
    if (variant.watch != nullptr && !variant.elsewhere) attach(variant, rounds);
  }
  for (const Work& work : works) compare(work, rounds);
  fmt::print("again with: build/release/bench/task_bench {}\n", rounds);
  return 0;
}

}  // namespace
}  // namespace fathom

int main(int argc, char** argv) { return fathom::main_of(argc, argv); }
