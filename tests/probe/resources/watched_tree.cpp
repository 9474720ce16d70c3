// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/watched_tree.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "base/fd.h"

namespace fathom::testing {
namespace {

constexpr int kMostTries = 500;

class Keeper final : public TaskListener {
 public:
  explicit Keeper(std::vector<Told>& events) : events_(events) {}
  void on_task(const TaskEvent& event) override {
    events_.push_back({event.kind, event.time_ns, event.pid, event.tid, event.ppid,
                       std::string(event.name), std::string(event.exe), std::string(event.args),
                       event.exit_code, event.ends_process, event.usage != nullptr,
                       event.usage != nullptr ? *event.usage : TaskUsage{}});
  }

 private:
  std::vector<Told>& events_;
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
                       std::chrono::milliseconds interval) {
  WatchedTree tree;
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
  (void)write_all(opener.get(), "go\n");
  Keeper keeper(tree.events);
  while (!is_over(root)) {
    std::this_thread::sleep_for(interval);
    source.value()->drain(keeper);
  }
  // A dying task is there to be waited for before its last switch, which counts as well: what
  // wait(2) says is final once the end has been told.
  for (int tries = 0; tries < kMostTries && !told_end_of(root, tree.events); ++tries) {
    source.value()->drain(keeper);
    std::this_thread::sleep_for(interval);
  }
  wait4(root, &tree.status, 0, &tree.used);
  source.value()->drain(keeper);
  source.value()->drain(keeper);  // what the one before may hold back
  tree.seen = source.value()->seen();
  tree.dropped = source.value()->dropped();
  tree.buffer_bytes = source.value()->buffer_bytes();
  return tree;
}

std::string task_tree_program() { return std::string(FATHOM_BUILD_DIR) + "/workloads/task_tree"; }

}  // namespace fathom::testing
