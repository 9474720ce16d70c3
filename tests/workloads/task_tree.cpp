// SPDX-License-Identifier: Apache-2.0
// Process trees with known, odd shapes, for the tests of the task watchers. The first argument
// names one. Where FATHOM_TEST_LOOKS names a file, it holds how often somebody has looked at the
// tree so far, and what naps does so until it has been looked at once more.
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

void reap(pid_t child) { waitpid(child, nullptr, 0); }

const std::atomic<uint64_t>* find_looks() {
  const char* path = std::getenv("FATHOM_TEST_LOOKS");
  const int file = path != nullptr ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return nullptr;
  void* found = mmap(nullptr, sizeof(uint64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return found == MAP_FAILED ? nullptr : static_cast<const std::atomic<uint64_t>*>(found);
}

const std::atomic<uint64_t>* const looks = find_looks();

void nap_ms(int ms) {
  const uint64_t before = looks != nullptr ? looks->load() : 0;
  usleep(static_cast<useconds_t>(ms) * 1000);
  while (looks != nullptr && looks->load() < before + 2) usleep(1000);  // the first had begun
}

// COUNT children by fork, each gone after MS; THREADS threads beside the first, gone after MS.
int children_and_threads(int count, int threads, int ms) {
  std::vector<std::thread> running;
  running.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) running.emplace_back([ms] { nap_ms(ms); });
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      nap_ms(ms);
      _exit(3 + i);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) reap(child);
  for (std::thread& thread : running) thread.join();
  return 7;
}

int spawn_short(int count) {
  for (int i = 0; i < count; ++i) {
    char name[] = "true";
    char* args[] = {name, nullptr};
    pid_t child = 0;
    if (posix_spawn(&child, "/bin/true", nullptr, nullptr, args, environ) != 0) return 1;
    reap(child);
  }
  return 0;
}

int vfork_one() {
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", "by vfork", nullptr);
    _exit(127);
  }
  reap(child);
  return 0;
}

int rename_self(int ms) {
  prctl(PR_SET_NAME, "a) R 1 (b\nc");
  const pid_t child = fork();
  if (child == 0) {
    nap_ms(ms);
    _exit(0);
  }
  reap(child);
  return 0;
}

int exec_from_thread(const char* self) {
  std::thread other([] { nap_ms(10'000); });
  std::thread caller([self] {
    nap_ms(30);
    execl(self, "task_tree", "nap", "30", nullptr);
    _exit(127);
  });
  caller.join();
  other.join();
  return 1;
}

// The first process outlives all, however long they take.
int daemonize(int ms) {
  int ends[2];  // the other end is everybody's
  if (pipe2(ends, O_CLOEXEC) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      nap_ms(ms);
      const pid_t last = fork();
      if (last == 0) {
        nap_ms(ms);
        _exit(0);
      }
      reap(last);
      _exit(0);
    }
    nap_ms(ms / 2);
    _exit(0);
  }
  close(ends[1]);
  char byte = 0;
  (void)!read(ends[0], &byte, 1);
  reap(child);
  nap_ms(ms);
  return 0;
}

// Writes BYTES in odd sizes to PATH, touches MIB of memory and lets go of it.
int use(const char* path, size_t bytes, size_t mib) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return 1;
  std::vector<char> block(10'007, 'x');
  for (size_t size = 1; bytes > 0; size = size % block.size() + 1) {
    const ssize_t written = write(file, block.data(), std::min(size, bytes));
    if (written <= 0) return 1;
    bytes -= static_cast<size_t>(written);
  }
  close(file);
  if (mib == 0) return 0;
  const size_t memory_bytes = mib << 20;
  void* memory =
      mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  std::memset(memory, 1, memory_bytes);
  munmap(memory, memory_bytes);
  return 0;
}

// Two threads burn CPU on every core for MS each.
int burn(int ms) {
  const auto spin = [ms] {
    timespec now{};
    do {
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1'000'000 < ms);
    nap_ms(0);
  };
  std::thread other(spin);
  spin();
  other.join();
  return 0;
}

}  // namespace

int main(int count, char** args) {
  const auto number = [&](int at) { return at < count ? std::atoi(args[at]) : 0; };
  const auto is = [&](const char* name) { return count > 1 && std::strcmp(args[1], name) == 0; };
  if (is("children-threads")) return children_and_threads(number(2), number(3), number(4));
  if (is("spawn")) return spawn_short(number(2));
  if (is("vfork")) return vfork_one();
  if (is("rename")) return rename_self(number(2));
  if (is("exec-thread")) return exec_from_thread(args[0]);
  if (is("daemon")) return daemonize(number(2));
  if (is("burn")) return burn(number(2));
  if (is("nap")) return nap_ms(number(2)), 0;
  if (is("use") && count > 4) return use(args[2], std::strtoull(args[3], nullptr, 10), number(4));
  return 2;
}
