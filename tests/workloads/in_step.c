// SPDX-License-Identifier: Apache-2.0
// in_step MILLISECONDS: works in step with 100 Hz. Of every 10 ms of its CPU time it spends a third
// in tick_first, one in tick_second and one in tick_third, on one CPU: sampled at 100 Hz it is
// always in the same, or on the border of two, and at any other rate in all three alike.
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile uint64_t sink;

// The clock that samples are taken by. That of the thread's account differs: it stands while the
// host of a virtual machine has taken the CPU away.
static int clock_fd;

static void open_clock(void) {
  struct perf_event_attr attr = {
      .type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK};
  clock_fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  if (clock_fd < 0) {
    perror("perf_event_open");
    exit(3);
  }
}
static int64_t cpu_ns(void) {
  int64_t counted_ns = 0;
  if (read(clock_fd, &counted_ns, sizeof counted_ns) != sizeof counted_ns) exit(3);
  return counted_ns;
}
__attribute__((noinline)) static void work(void) {
  for (int i = 0; i < 20000; ++i) sink += (uint64_t)i * 3;
}

enum { kPeriodNs = 10000000 };

static int third_of(int64_t now_ns) { return (int)(now_ns % kPeriodNs * 3 / kPeriodNs); }
__attribute__((always_inline)) static inline int64_t work_while(int third, int64_t now_ns) {
  while (third_of(now_ns) == third) {
    work();
    now_ns = cpu_ns();
  }
  sink += 1;  // no tail call
  return now_ns;
}
__attribute__((noinline)) static int64_t tick_first(int64_t now_ns) {
  return work_while(0, now_ns);
}
__attribute__((noinline)) static int64_t tick_second(int64_t now_ns) {
  return work_while(1, now_ns);
}
__attribute__((noinline)) static int64_t tick_third(int64_t now_ns) {
  return work_while(2, now_ns);
}

int main(int argc, char** argv) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  open_clock();
  int64_t now_ns = cpu_ns();
  const int64_t end_ns = now_ns + (argc > 1 ? atoll(argv[1]) : 1000) * 1000000;
  while (now_ns < end_ns) now_ns = tick_third(tick_second(tick_first(now_ns)));
  printf("%d\n", (int)(sink & 1));
  return 0;
}
