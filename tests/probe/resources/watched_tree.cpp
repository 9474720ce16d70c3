// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/watched_tree.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "base/fd.h"

namespace fathom::testing {
namespace {

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

pid_t start_waiting(std::vector<std::string>& command, int gate) {
  std::vector<char*> args;
  for (std::string& word : command) args.push_back(word.data());
  args.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  char byte = 0;
  (void)!read(gate, &byte, 1);
  if (byte == 'g') execvp(args[0], args.data());
  _exit(127);
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

WatchedTree watch_tree(const Watch& watch, std::vector<std::string> command,
                       std::chrono::milliseconds interval) {
  WatchedTree tree;
  auto [gate, opener] = make_pipe().value();
  const pid_t root = start_waiting(command, gate.get());
  tree.root = root;
  auto source = watch(root);
  if (!source.ok()) {
    tree.cause = source.error();
    tree.error = source.error().message;
    (void)write_all(opener.get(), "x");  // the child holds both ends: closing would not tell it
    waitpid(root, nullptr, 0);
    return tree;
  }
  (void)write_all(opener.get(), "g");
  Keeper keeper(tree.events);
  while (wait4(root, &tree.status, WNOHANG, &tree.used) == 0) {
    std::this_thread::sleep_for(interval);
    source.value()->drain(keeper);
  }
  source.value()->drain(keeper);
  source.value()->drain(keeper);  // what the one before may hold back
  tree.seen = source.value()->seen();
  tree.dropped = source.value()->dropped();
  tree.buffer_bytes = source.value()->buffer_bytes();
  return tree;
}

std::string task_tree_program() { return std::string(FATHOM_BUILD_DIR) + "/workloads/task_tree"; }

}  // namespace fathom::testing
