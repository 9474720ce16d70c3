/* SPDX-License-Identifier: Apache-2.0
 * counts_known WHAT N...: does a known number of countable things, one WHAT after the other.
 *   pages N     touches N fresh pages, each once
 *   writes N    writes one byte to /dev/null N times
 *   switches N  two processes on one CPU wake each other N times: 2 N context switches
 *   threads N   a thread after the other, each of which touches 1,000 + its number (from 0) pages
 *   children N  the same with processes
 *   forks N     N processes that end at once
 *   loop N      counted_loop: two instructions N times
 *   spin MS     burns so many milliseconds of CPU time
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void touch_pages(long count) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (count == 0) return;
  char* memory =
      mmap(NULL, (size_t)count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(99);
  madvise(memory, (size_t)count * page, MADV_NOHUGEPAGE);
  for (long i = 0; i < count; ++i) ((volatile char*)memory)[(size_t)i * page] = 1;
  munmap(memory, (size_t)count * page);
}

static void write_bytes(long count) {
  const int fd = open("/dev/null", O_WRONLY);
  for (long i = 0; i < count; ++i)
    if (write(fd, "x", 1) != 1) _exit(98);
  close(fd);
}

static void pass_on(int from, int to, long count) {
  char byte = 0;
  for (long i = 0; i < count; ++i)
    if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1) _exit(97);
}

static void switch_tasks(long count) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof one, &one);
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0) _exit(96);
  const pid_t child = fork();
  if (child == 0) {
    pass_on(there[0], back[1], count);
    _exit(0);
  }
  if (write(there[1], "x", 1) != 1) _exit(95);
  pass_on(back[0], there[1], count);
  waitpid(child, NULL, 0);
}

static void* touch_in_thread(void* number) {
  touch_pages(1000 + (long)(intptr_t)number);
  return NULL;
}

static void start_threads(long count) {
  for (long i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, touch_in_thread, (void*)(intptr_t)i) != 0) _exit(94);
    pthread_join(thread, NULL);
  }
}

static void start_children(long count, int touch) {
  for (long i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      if (touch) touch_pages(1000 + i);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
}

__attribute__((noinline)) void counted_loop(unsigned long count) {
  if (count == 0) return;
#if defined(__x86_64__)
  __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(count) : : "cc");
#elif defined(__aarch64__)
  __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(count) : : "cc");
#else
  while (--count != 0) __asm__ volatile("" : : : "memory");
#endif
}

static void spin(long milliseconds) {
  struct timespec now;
  do {
    counted_loop(100000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < milliseconds);
}

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const long count = atol(argv[i + 1]);
    if (strcmp(argv[i], "pages") == 0) touch_pages(count);
    if (strcmp(argv[i], "writes") == 0) write_bytes(count);
    if (strcmp(argv[i], "switches") == 0) switch_tasks(count);
    if (strcmp(argv[i], "threads") == 0) start_threads(count);
    if (strcmp(argv[i], "children") == 0) start_children(count, 1);
    if (strcmp(argv[i], "forks") == 0) start_children(count, 0);
    if (strcmp(argv[i], "loop") == 0) counted_loop((unsigned long)count);
    if (strcmp(argv[i], "spin") == 0) spin(count);
  }
  return 0;
}
