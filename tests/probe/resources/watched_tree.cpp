// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/watched_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"
#include "base/proc_system.h"
#include "support/folders.h"
#include "support/temp_folder.h"

namespace fathom::fixtures {
namespace {

constexpr int kMostTries = 500;
constexpr std::chrono::milliseconds kInterval{2};
constexpr std::chrono::seconds kPatience{20};

// How often the tree was looked at, where the workload sees it too.
class Looks {
 public:
  Looks() {
    const std::string path = folder_.path() + "/looks";
    EXPECT_TRUE(write_file(path, std::string(sizeof(uint64_t), '\0')).ok());
    const Fd file = open_file(path, O_RDWR).value();
    void* mapped =
        mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    EXPECT_NE(mapped, MAP_FAILED);
    count_ = static_cast<std::atomic<uint64_t>*>(mapped);
    setenv("FATHOM_TEST_LOOKS", path.c_str(), 1);
  }
  ~Looks() {
    unsetenv("FATHOM_TEST_LOOKS");
    munmap(count_, sizeof(uint64_t));
  }
  void add() { ++*count_; }

 private:
  TempFolder folder_;
  std::atomic<uint64_t>* count_;
};

class Keeper final : public TaskListener {
 public:
  explicit Keeper(std::vector<Told>& events) : events_(events) {}
  void drain(TaskSource& source) {
    ++drains_;
    source.drain(*this);
  }
  void on_task(const TaskEvent& event) override {
    events_.push_back({event.kind, event.time_ns, event.pid, event.tid, event.ppid,
                       event.pid_namespace, event.inner_pid, event.inner_tid,
                       std::string(event.name), std::string(event.exe), std::string(event.args),
                       event.exit_code, event.ends_process, event.usage != nullptr,
                       event.usage != nullptr ? *event.usage : TaskUsage{}, drains_});
  }

 private:
  std::vector<Told>& events_;
  int drains_ = 0;
};

// A shell, not a fork of this test: a sanitizer may have threads and memory of its own in a copy of
// the test. It becomes the command when it is told to go. Returns when the shell runs: posix_spawn
// returns a little before the kernel tells of its exec.
pid_t start_waiting(const std::vector<std::string>& command, int gate) {
  constexpr const char* kScript = R"(exec 3>&-; read -r word; [ "$word" = go ] && exec "$@")";
  std::vector<std::string> words = {"/bin/sh", "-c", kScript, "sh"};
  auto [ready, teller] = make_pipe().value();
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> args;
  args.reserve(words.size() + 1);
  for (std::string& word : words) args.push_back(word.data());
  args.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, gate, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, teller.get(), 3);
  pid_t child = -1;
  if (posix_spawn(&child, args[0], &actions, nullptr, args.data(), environ) != 0) child = -1;
  posix_spawn_file_actions_destroy(&actions);
  teller.reset();
  char byte = 0;
  (void)!read(ready.get(), &byte, 1);  // ends when the shell has closed its side
  return child;
}

// What the host of this machine took away since `before_ns`. It is told in ticks, none of which has
// been counted where there is no such host.
int64_t stolen_since(int64_t before_ns) {
  constexpr int64_t kUnsureNs = 20 * kNsPerMs;
  const int64_t now_ns = read_system_stat().value().steal_ns;
  return now_ns == 0 ? 0 : now_ns - before_ns + kUnsureNs;
}

bool is_over(pid_t root) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(root), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == root;
}

bool told_end_of(int64_t root, const std::vector<Told>& events) {
  return std::any_of(events.begin(), events.end(),
                     [root](const Told& told) { return told.pid == root && told.ends_process; });
}

}  // namespace

std::vector<Told> WatchedTree::of(TaskEvent::Kind kind) const {
  std::vector<Told> found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found),
               [kind](const Told& told) { return told.kind == kind; });
  return found;
}

std::vector<Told> WatchedTree::processes_ended() const {
  std::vector<Told> found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found),
               [](const Told& told) { return told.ends_process; });
  return found;
}

WatchedTree watch_tree(const Watch& watch, const std::vector<std::string>& command,
                       const std::function<bool(const WatchedTree&)>& enough) {
  WatchedTree tree;
  Looks looks;
  auto [gate, opener] = make_pipe().value();
  const pid_t root = start_waiting(command, gate.get());
  tree.root = root;
  auto source = watch(root);
  if (!source.ok()) {
    tree.cause = source.error();
    tree.error = source.error().message;
    opener.reset();
    waitpid(root, nullptr, 0);
    return tree;
  }
  const int64_t stolen_before_ns = read_system_stat().value().steal_ns;
  (void)write_all(opener.get(), "go\n");
  Keeper keeper(tree.events);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!is_over(root)) {
    std::this_thread::sleep_for(kInterval);
    keeper.drain(*source.value());
    looks.add();
    if (enough && (enough(tree) || std::chrono::steady_clock::now() > end)) opener.reset();
  }
  // A dying task is there to be waited for before its last switch, which counts as well: what
  // wait(2) says is final once the end has been told.
  for (int tries = 0; tries < kMostTries && !told_end_of(root, tree.events); ++tries) {
    keeper.drain(*source.value());
    std::this_thread::sleep_for(kInterval);
  }
  wait4(root, &tree.status, 0, &tree.used);
  tree.stolen_ns = stolen_since(stolen_before_ns);
  keeper.drain(*source.value());
  keeper.drain(*source.value());  // what the one before may hold back
  tree.seen = source.value()->seen();
  tree.dropped = source.value()->dropped();
  tree.buffer_bytes = source.value()->buffer_bytes();
  return tree;
}

std::string task_tree_program() { return build_folder() + "/workloads/task_tree"; }

}  // namespace fathom::fixtures
