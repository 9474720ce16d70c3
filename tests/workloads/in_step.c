// SPDX-License-Identifier: Apache-2.0
// in_step MILLISECONDS: works in step with 100 Hz. Of every 10 ms of its CPU time it spends one
// half in tick_first and the other in tick_second, on one CPU: sampled at 100 Hz it is always in
// the same, at any other rate in both alike.
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

// The clock that samples are taken by. That of the thread's account differs: it stands while the
// host of a virtual machine has taken the CPU away.
static int clock_fd;
static int64_t before_ns;  // what the thread had used when it was opened

static void open_clock(void) {
  struct perf_event_attr attr = {
      .type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK};
  struct timespec now;
  clock_fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  if (clock_fd < 0) {
    perror("perf_event_open");
    exit(3);
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  before_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
}
static int64_t cpu_ns(void) {
  int64_t counted_ns = 0;
  if (read(clock_fd, &counted_ns, sizeof counted_ns) != sizeof counted_ns) exit(3);
  return before_ns + counted_ns;
}
__attribute__((noinline)) static void work(void) {
  for (int i = 0; i < 20000; ++i) sink += (uint64_t)i * 3;
}
// Sampling began with this thread, so that samples fall on multiples of the period of its CPU time:
// into the middle of the first half, however long it took to get here.
enum { kPeriodNs = 10000000 };

static int is_first(int64_t now_ns) { return (now_ns + kPeriodNs / 4) % kPeriodNs < kPeriodNs / 2; }
__attribute__((noinline)) static int64_t tick_first(int64_t now_ns) {
  while (is_first(now_ns)) {
    work();
    now_ns = cpu_ns();
  }
  sink += 1;  // no tail call
  return now_ns;
}
__attribute__((noinline)) static int64_t tick_second(int64_t now_ns) {
  while (!is_first(now_ns)) {
    work();
    now_ns = cpu_ns();
  }
  sink += 2;
  return now_ns;
}

int main(int argc, char** argv) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  open_clock();
  int64_t now_ns = cpu_ns();
  const int64_t end_ns = now_ns + (argc > 1 ? atoll(argv[1]) : 1000) * 1000000;
  while (now_ns < end_ns) now_ns = tick_second(tick_first(now_ns));
  printf("%d\n", (int)(sink & 1));
  return 0;
}
