// SPDX-License-Identifier: Apache-2.0
// stacks_known ROUNDS: a program whose stacks are known beforehand. Everything it does is the same
// loop, counted, so that shares are exact whatever the machine's speed:
//   share_a, share_b, share_c   50, 30 and 20 % of share_all
//   deep                        calls itself, 400 frames of it, and works in deep_bottom
//   thread_work                 in five threads at once, the main thread waits
//   child_work                  in a forked child
//   library_work                called back by known_library_work of a library it loads
//   tail_inner                  reached by a jump from tail_outer, which leaves no frame
//   Box<…>::work<…>             names with spaces, commas and brackets
//   kernel_work                 reads zeros: the time goes into the kernel
// Built with -O2: no frame pointers.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>
#include <utility>

#define NOINLINE __attribute__((noinline, noipa))

constexpr long kUnit = 100'000;
constexpr int kDepth = 400;
constexpr int kThreads = 5;

// Bound by the latency of its chain: as fast in one place as in another.
static inline __attribute__((always_inline)) void work(long count) {
  unsigned long value = 1;
  for (long i = 0; i < count; ++i) {
    value = value * 6364136223846793005UL + 1442695040888963407UL;
    __asm__ volatile("" : "+r"(value));
  }
}

NOINLINE void share_a(long unit) { work(5 * unit); }
NOINLINE void share_b(long unit) { work(3 * unit); }
NOINLINE void share_c(long unit) { work(2 * unit); }

// In turns of different length, so that no rate of samples is in step with them, each long enough
// for some samples.
NOINLINE void share_all(long rounds) {
  constexpr long kTurn = 10;  // rounds, on average
  unsigned random = 1;
  for (long i = 0; i < rounds; i += kTurn) {
    random = random * 1103515245 + 12345;
    const long unit = kTurn * (kUnit / 2 + static_cast<long>(random >> 8) % kUnit);
    share_a(unit);
    share_b(unit);
    share_c(unit);
  }
}

NOINLINE void deep_bottom(long rounds) { work(2 * rounds * kUnit); }
NOINLINE void deep(int depth, long rounds) {
  [[maybe_unused]] volatile char room[40] = {};  // every frame has some
  if (depth > 1)
    deep(depth - 1, rounds);
  else
    deep_bottom(rounds);
  room[0] = 1;
}

NOINLINE void thread_work(long rounds) { work(rounds * kUnit); }
void* thread_main(void* rounds) {
  thread_work(*static_cast<long*>(rounds));
  return nullptr;
}
NOINLINE void run_threads(long rounds) {
  pthread_t threads[kThreads];
  for (pthread_t& thread : threads)
    if (pthread_create(&thread, nullptr, thread_main, &rounds) != 0) _exit(91);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

NOINLINE void child_work(long rounds) { work(2 * rounds * kUnit); }
NOINLINE void run_child(long rounds) {
  const pid_t child = fork();
  if (child == 0) {
    child_work(rounds);
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) _exit(92);
}

NOINLINE void library_work(long) { work(2 * kUnit); }
NOINLINE void use_library(const char* self, long rounds) {
  std::string path = self;
  path = path.substr(0, path.rfind('/') + 1) + "libstacks_known_library.so";
  void* library = dlopen(path.c_str(), RTLD_NOW);
  if (library == nullptr) _exit(93);
  using Work = void (*)(void (*)(long), long);
  const auto call = reinterpret_cast<Work>(dlsym(library, "known_library_work"));
  if (call == nullptr) _exit(94);
  call(library_work, rounds);
  dlclose(library);
}

NOINLINE long tail_inner(long rounds) {
  work(2 * rounds * kUnit);
  return rounds;
}
NOINLINE long tail_outer(long rounds) { return tail_inner(rounds + 0); }
NOINLINE long tail_caller(long rounds) { return tail_outer(rounds) + 1; }

template <class Key, class Value>
struct Box {
  template <class Unit>
  NOINLINE static void work(Unit rounds) {
    ::work(2 * rounds * kUnit);
  }
};

NOINLINE void kernel_work(long rounds) {
  static char buffer[1 << 20];
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (long i = 0; i < rounds; ++i)
    if (read(zeros, buffer, sizeof buffer) != sizeof buffer) _exit(95);
  close(zeros);
}

int main(int count, char** args) {
  const long rounds = count > 1 ? atol(args[1]) : 300;
  share_all(rounds);
  deep(kDepth, rounds);
  run_threads(rounds);
  run_child(rounds);
  use_library(args[0], rounds);
  tail_caller(rounds);
  Box<std::pair<int, unsigned long>, std::map<char, std::pair<int, int>>>::work<unsigned long>(
      static_cast<unsigned long>(rounds));
  kernel_work(3 * rounds);
  return 0;
}
