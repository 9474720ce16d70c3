// SPDX-License-Identifier: Apache-2.0
// Samples itself at arbitrary instructions and writes for each sample what a profiler would get
// (registers, the stack from SP up) and the truth (what libgcc's unwinder finds from inside):
//
//   unwind_samples timer|step COUNT OUT        writes OUT and OUT.maps
//
// `timer` interrupts at random times, `step` stops at every instruction of a short run and keeps
// every 37th. The code runs through recursion, callbacks, exceptions, alloca, realigned stacks,
// lazy binding, libc, the vdso, signal handlers on top of others, a loaded library, a second
// thread. A record: 17 registers by DWARF number, n, n addresses, stack address, size, bytes. n is
// 0 where libgcc crashed: it cannot unwind out of the middle of its own _Unwind_Resume.
#include <alloca.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline, noipa))

namespace {

// There dlopen brings a second libc, and libgcc waits for itself where an exception is interrupted.
#ifdef UNWIND_SAMPLES_STATIC
constexpr bool kStatic = true;
#else
constexpr bool kStatic = false;
#endif
constexpr size_t kMostTruth = 2048;
volatile uint64_t sink;
volatile long wanted, taken;
bool stepping;
FILE* out;
timer_t timer;
thread_local uint64_t stack_end;
uint64_t truth[kMostTruth];
size_t truth_size;
uint64_t instructions;
sigjmp_buf unwinder_crashed;

_Unwind_Reason_Code note(_Unwind_Context* context, void*) {
  if (truth_size < kMostTruth) truth[truth_size++] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

void arm(long nanoseconds) {
  const itimerspec when = {{0, 0}, {0, nanoseconds}};
  timer_settime(timer, 0, &when, nullptr);
}

void write_sample(const gregset_t& from) {
  static const int kOrder[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  uint64_t registers[17];
  for (int i = 0; i < 17; ++i) registers[i] = static_cast<uint64_t>(from[kOrder[i]]);
  const uint64_t pc = registers[16];
  const uint64_t sp = registers[7];
  truth_size = 0;
  if (sigsetjmp(unwinder_crashed, 1) == 0) {
    _Unwind_Backtrace(note, nullptr);
    while (truth_size > 0 && truth[truth_size - 1] == 0) --truth_size;
  } else {
    truth_size = 0;
  }
  size_t first = 0;  // this function, the handler and the trampoline come before
  while (first < truth_size && truth[first] != pc) ++first;
  const uint64_t count = truth_size - first;
  const uint64_t head[2] = {sp, stack_end - sp};
  fwrite(registers, sizeof registers, 1, out);
  fwrite(&count, sizeof count, 1, out);
  fwrite(truth + first, 8, count, out);
  fwrite(head, sizeof head, 1, out);
  fwrite(reinterpret_cast<const void*>(sp), 1, head[1], out);
  taken = taken + 1;
}

void on_crash(int) { siglongjmp(unwinder_crashed, 1); }

void on_sample(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const int error = errno;
  if (taken < wanted) {
    if (!stepping || ++instructions % 37 == 0) write_sample(registers);
    if (!stepping) arm(20'000 + rand_r(reinterpret_cast<unsigned*>(&instructions)) % 400'000);
  } else {
    registers[REG_EFL] &= ~0x100;
  }
  errno = error;
}

void set_trap(bool on) {
  if (on)
    asm volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
  else
    asm volatile("pushfq; andq $-257, (%%rsp); popfq" ::: "memory", "cc");
}

NOINLINE uint64_t leaf(uint64_t x) {
  for (int i = 0; i < 20; ++i) x = x * 6364136223846793005 + 1442695040888963407;
  return x;
}
NOINLINE uint64_t tail(uint64_t x) { return leaf(x + 3); }
NOINLINE uint64_t recurse(int depth, uint64_t x) {
  if (depth == 0) return tail(x);
  const uint64_t a = leaf(x), b = recurse(depth - 1, x + a);
  return a ^ b ^ (depth % 7 == 0 ? tail(b) : x);
}
NOINLINE uint64_t with_alloca(size_t size) {
  auto* bytes = static_cast<char*>(alloca(size));
  memset(bytes, static_cast<int>(size), size);
  return leaf(static_cast<uint64_t>(bytes[size / 2])) + (size > 64 ? with_alloca(size / 2) : 0);
}
NOINLINE uint64_t fill(char* to, size_t size) {
  return static_cast<uint64_t>(snprintf(to, size, "%s %d %.3f", "words", 17, 2.5 * double(size)));
}
NOINLINE uint64_t realigned(uint64_t x) {
  alignas(64) char text[192];
  return fill(text, sizeof text) + leaf(x) + static_cast<uint64_t>(text[0]);
}
NOINLINE uint64_t large_frame(uint64_t x) {
  char bytes[70'000];
  memset(bytes, int(x), sizeof bytes);
  return leaf(static_cast<uint64_t>(bytes[x % sizeof bytes]));
}
#ifdef __cpp_exceptions
[[noreturn]] NOINLINE void fail(int x) { throw std::runtime_error("fail " + std::to_string(x)); }
NOINLINE size_t maybe_fail(int depth) {
  std::string held(40, 'x');
  if (depth == 0) fail(int(held.size()));
  return held.size() + (depth > -1 ? maybe_fail(depth - 1) : 0);
}
NOINLINE void throw_and_catch() {
  try {
    maybe_fail(6);
  } catch (const std::exception& error) {
    sink = strlen(error.what());
  }
}
#else
void throw_and_catch() {}
#endif
int compare(const void* a, const void* b) {
  const uint64_t x = leaf(*static_cast<const uint32_t*>(a)),
                 y = leaf(*static_cast<const uint32_t*>(b));
  return x < y ? -1 : x > y;
}
void on_user(int number) {
  sink = recurse(3, uint64_t(number));
  if (number == SIGUSR1) raise(SIGUSR2);
  sink = realigned(sink);
}

NOINLINE void libraries(void* loaded) {
  static const char kText[] = "3.14159e12";
  sink = uint64_t(sin(double(sink % 1000)) * 100 + pow(1.01, double(sink % 300)) + exp(0.5));
  sink = sink + uint64_t(strtod(kText, nullptr)) + strlen(kText);
  std::vector<void*> held;
  for (size_t i = 1; i < 40; ++i) held.push_back(malloc(i * 37));
  for (void* one : held) free(one);
  timespec now;
  for (int i = 0; i < 20; ++i) clock_gettime(CLOCK_MONOTONIC, &now);
  using Crc = unsigned long (*)(unsigned long, const unsigned char*, unsigned);
  const auto crc = loaded == nullptr ? nullptr : reinterpret_cast<Crc>(dlsym(loaded, "crc32"));
  if (crc != nullptr) sink = crc(0, reinterpret_cast<const unsigned char*>(kText), sizeof kText);
  sink = sink + uint64_t(getpid()) + uint64_t(lgamma(double(sink % 50) + 0.5));
}

NOINLINE void one_round(void* loaded, int depth) {
  sink = recurse(depth, sink);
  uint32_t numbers[24];
  for (size_t i = 0; i < 24; ++i) numbers[i] = uint32_t(leaf(sink + i));
  qsort(numbers, 24, sizeof numbers[0], compare);
  if (!kStatic) throw_and_catch();
  const std::function<uint64_t(int)> nested = [&](int n) {
    return n == 0 ? realigned(sink) : nested(n - 1) + leaf(uint64_t(n));
  };
  sink = nested(5) + with_alloca(1000) + large_frame(sink);
  libraries(loaded);
  raise(SIGUSR1);
}

struct Job {
  long until;
  int depth;
};

// The work of one thread, which alone is sampled while it lasts.
void* work(void* argument) {
  const Job& job = *static_cast<Job*>(argument);
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  stack_end = reinterpret_cast<uint64_t>(low) + size;
  void* loaded = kStatic ? nullptr : dlopen("libz.so.1", RTLD_LAZY);
  wanted = job.until;
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  if (stepping)
    set_trap(true);
  else
    arm(1'000'000);
  while (taken < wanted) one_round(loaded, job.depth);
  if (stepping) set_trap(false);
  timer_delete(timer);
  return nullptr;
}

void copy_maps(const std::string& to) {
  FILE* maps = fopen("/proc/self/maps", "r");
  FILE* copy = fopen(to.c_str(), "w");
  for (int c = getc(maps); c != EOF; c = getc(maps)) putc(c, copy);
  fclose(copy);
  fclose(maps);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  stepping = strcmp(words[1], "step") == 0;
  const long samples = atol(words[2]);
  out = fopen(words[3], "w");
  if (out == nullptr) return 1;
  // What the handler calls must not allocate: it may interrupt malloc. Both do so at first use.
  static char buffer[1 << 16];
  setvbuf(out, buffer, _IOFBF, sizeof buffer);
  _Unwind_Backtrace(note, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_sample;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(stepping ? SIGTRAP : SIGPROF, &action, nullptr);
  signal(SIGSEGV, on_crash);
  signal(SIGUSR1, on_user);
  signal(SIGUSR2, on_user);
  Job first = {samples * 3 / 4, stepping ? 12 : 400}, second = {samples, 30};
  work(&first);
  pthread_t thread;
  pthread_create(&thread, nullptr, work, &second);
  pthread_join(thread, nullptr);
  fclose(out);
  copy_maps(std::string(words[3]) + ".maps");
  return 0;
}
