/* SPDX-License-Identifier: Apache-2.0
 * io_signals CASE: I/O in signal handlers, and calls that never return because somebody jumped out
 * of them or cancelled their thread. What it does it counts in ./tally (io_tally.h). Exits with 7.
 *   handlers  3,000 runs of handlers that write, some 70 times, some within another, while the main
 *             program does nothing but I/O
 *   forks     200 forks in a handler that interrupts I/O; the child goes on where its parent was
 *   jump      31 jumps out of a read that waits, from shallow and deep stacks
 *   altstack  the same with handlers on stacks of their own, above and below the thread's, which
 *             wait in a read themselves
 *   storm     3,000 jumps out of wherever the program is
 *   cancel    12 threads cancelled while they read, 7 of them with a handler that writes
 *   nested    nftw within nftw, 70 deep, each with a write
 *   longjmp   9 times out of the innermost of 5 such */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "io_tally.h"

static void check(bool good, const char* what) {
  if (good) return;
  syscall(SYS_write, 2, what, strlen(what));
  syscall(SYS_write, 2, "\n", 1);
  syscall(SYS_exit_group, 92);
}

static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  check(sigaction(number, &action, NULL) == 0, "sigaction");
}

/* A signal to this thread, again and again. */
static timer_t start_timer(int number, long every_ns) {
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
  event._sigev_un._tid = (int)syscall(SYS_gettid);
  const struct itimerspec times = {{0, every_ns}, {0, every_ns}};
  check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  check(timer_settime(timer, 0, &times, NULL) == 0, "timer_settime");
  return timer;
}

static void stop_timer(timer_t timer, int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  timer_delete(timer);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* whatever was on its way has come */
}

/* ---- handlers, forks --------------------------------------------------------------------------
 */

static int handler_fd;
static volatile int runs;

static void write_in_handler(int number) {
  const int error = errno;
  const int writes = ++runs % 8 == 0 ? 70 : 1;
  for (int i = 0; i < writes; ++i)
    CALL(BYTES, write, handler, handler_fd, tally_block, 3 + (number == SIGUSR1));
  errno = error;
}

static volatile int is_child;

static int some_io(int fd) {
  struct stat status;
  int again = -1;
  for (int step = 0; step < 7 && !is_child; ++step) {
    if (step == 0) CALL(BYTES, write, main, fd, tally_block, 5);
    if (step == 1) CALL(STATUS, lseek, main, fd, 0, SEEK_SET);
    if (step == 2) CALL(BYTES, pread, main, fd, tally_block, 3, 1);
    if (step == 3) CALL(STATUS, stat, main, "main", &status);
    if (step == 4) again = CALL(STATUS, open, main, "main", O_RDONLY);
    if (step == 5) CALL(STATUS, close, main, again);
    if (step == 6) CALL(STATUS, lseek, none, -1, 0, SEEK_SET);
  }
  return errno;
}

static int open_for_handlers(void) {
  handler_fd = CALL(STATUS, open, handler, "handler", O_WRONLY | O_CREAT | O_APPEND, 0666);
  return CALL(STATUS, open, main, "main", O_RDWR | O_CREAT, 0666);
}

static int handlers(void) {
  const int fd = open_for_handlers();
  handle(SIGUSR1, write_in_handler, SA_RESTART);
  handle(SIGUSR2, write_in_handler, SA_RESTART | SA_NODEFER);
  const timer_t first = start_timer(SIGUSR1, 100003), second = start_timer(SIGUSR2, 130003);
  while (runs < 3000) check(some_io(fd) == EBADF, "errno after a handler");
  stop_timer(first, SIGUSR1);
  stop_timer(second, SIGUSR2);
  return 7;
}

static void fork_in_handler(int number) {
  (void)number;
  const int error = errno;
  if (tally_busy || is_child || ++runs > 200) return;
  if (fork() == 0) {
    tally_forked = is_child = runs;
    for (int i = 0; i < runs % 4; ++i) CALL(BYTES, write, handler, handler_fd, tally_block, 11);
  }
  errno = error;
}

static int forks(void) {
  const int fd = open_for_handlers();
  handle(SIGCHLD, SIG_IGN, 0);
  handle(SIGUSR1, fork_in_handler, SA_RESTART);
  const timer_t timer = start_timer(SIGUSR1, 500009);
  while (runs < 200 && !is_child) some_io(fd);
  if (is_child) {
    WRITE_SOME(child, "child", is_child % 3);
    _exit(0);
  }
  stop_timer(timer, SIGUSR1);
  while (waitpid(-1, NULL, 0) > 0) {
  }
  WRITE_SOME(main, "main", 3);
  return 7;
}

/* ---- jump, altstack, storm --------------------------------------------------------------------
 */

static int pipe_fds[2];
static sigjmp_buf back;
static volatile int waits; /* how often somebody was about to read from the pipe */
static volatile int waiter;

static bool sleeps(int task) {
  char path[64], text[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", task);
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
  if (fd < 0) return false;
  syscall(SYS_read, fd, text, sizeof text - 1);
  syscall(SYS_close, fd);
  const char* name_end = strrchr(text, ')');
  return name_end != NULL && name_end[2] == 'S';
}

/* The next time. */
static void until_it_waits(void) {
  static int before;
  ++before;
  while (waits != before || !sleeps(waiter)) {
    const struct timespec moment = {0, 20000};
    nanosleep(&moment, NULL);
  }
}

static void wait_in_read(int unused) {
  char byte;
  (void)unused;
  waiter = (int)syscall(SYS_gettid);
  ++waits;
  check(read(pipe_fds[0], &byte, 1) == -77, "a read that should not have returned");
}

static __attribute__((noinline)) void deeper(int levels, void (*work)(int), int argument) {
  volatile char room[500];
  room[0] = (char)levels;
  if (levels > 0)
    deeper(levels - 1, work, argument);
  else
    work(argument);
  room[1] = room[0];
}

static void write_main(int writes) { WRITE_SOME(main, "main", writes); }

static void jump(int number) {
  (void)number;
  siglongjmp(back, 1);
}

static void jump_from_second(int number) {
  (void)number;
  WRITE_SOME(handler, "handler", 1);
  wait_in_read(0); /* until the other signal comes */
}

struct Jumper {
  pthread_t target;
  int rounds;
  bool twice;
};

static void* send_jumps(void* argument) {
  const struct Jumper* jumper = argument;
  for (int i = 0; i < jumper->rounds; ++i) {
    if (jumper->twice) {
      until_it_waits();
      pthread_kill(jumper->target, SIGUSR2);
    }
    until_it_waits();
    pthread_kill(jumper->target, SIGUSR1);
  }
  return NULL;
}

/* Reads shallow and writes deep, and the other way round; at last nothing is left open. */
static void be_jumped(int rounds, bool twice) {
  pthread_t sender;
  struct Jumper jumper = {pthread_self(), rounds, twice};
  pthread_create(&sender, NULL, send_jumps, &jumper);
  for (volatile int i = 0; i < rounds; ++i) {
    if (sigsetjmp(back, 1) == 0) deeper(i % 3 * 10, wait_in_read, 0);
    tally_jumped(kCall_read);
    if (twice) tally_jumped(kCall_read);
    deeper(i % 5 * 8, write_main, 1 + i % 40);
  }
  pthread_join(sender, NULL);
  write_main(3);
}

static int jumps(void) {
  check(CALL(STATUS, pipe, none, pipe_fds) == 0, "pipe");
  handle(SIGUSR1, jump, 0);
  be_jumped(31, false);
  return 7;
}

enum { kStack = 256 * 1024 };
static char* three_stacks; /* below, the thread's, above */

static void* jumped_on_altstack(void* which) {
  const stack_t stack = {.ss_sp = which, .ss_size = kStack};
  const stack_t none = {.ss_flags = SS_DISABLE};
  check(sigaltstack(&stack, NULL) == 0, "sigaltstack");
  be_jumped(11, false);
  be_jumped(11, true);
  sigaltstack(&none, NULL);
  return NULL;
}

static int altstack(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  three_stacks = (char*)syscall(SYS_mmap, NULL, 3 * kStack, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(CALL(STATUS, pipe, none, pipe_fds) == 0, "pipe");
  handle(SIGUSR1, jump, SA_ONSTACK);
  handle(SIGUSR2, jump_from_second, SA_ONSTACK);
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, three_stacks + kStack, kStack);
  for (int i = 0; i < 2; ++i) {
    check(pthread_create(&thread, &attributes, jumped_on_altstack, three_stacks + 2 * i * kStack) ==
              0,
          "pthread_create");
    pthread_join(thread, NULL);
  }
  return 7;
}

static void jump_anywhere(int number) {
  (void)number;
  if (++runs <= 3000) siglongjmp(back, 1);
}

static void maybe_io(int fd) {
  struct stat status;
  CALL_MAYBE(BYTES, write, main, fd, tally_block, 5);
  CALL_MAYBE(STATUS, lseek, main, fd, 0, SEEK_SET);
  CALL_MAYBE(BYTES, pread, main, fd, tally_block, 3, 1);
  CALL_MAYBE(STATUS, stat, main, "main", &status);
  CALL_MAYBE(STATUS, lseek, main, fd, 0, SEEK_SET);
}

static int storm(void) {
  static int fd; /* no jump may change it */
  fd = CALL(STATUS, open, main, "main", O_RDWR | O_CREAT, 0666);
  handle(SIGUSR1, jump_anywhere, 0);
  static timer_t timer;
  timer = start_timer(SIGUSR1, 100003);
  static volatile int round;
  (void)sigsetjmp(back, 1);
  while (runs < 3000) deeper(++round % 7, maybe_io, fd);
  stop_timer(timer, SIGUSR1);
  write_main(5);
  return 7;
}

/* ---- cancel, nested, longjmp ------------------------------------------------------------------
 */

static void clean_up(void* writes) { deeper(0, write_main, *(int*)writes); }

static void* be_cancelled(void* writes) {
  if (*(int*)writes == 0) {
    wait_in_read(0);
    return NULL;
  }
  pthread_cleanup_push(clean_up, writes);
  wait_in_read(0);
  pthread_cleanup_pop(1);
  return NULL;
}

static int cancel(void) {
  check(CALL(STATUS, pipe, none, pipe_fds) == 0, "pipe");
  for (int i = 0; i < 12; ++i) {
    pthread_t thread;
    void* result;
    int writes = i < 7 ? 2 * i + 1 : 0;
    pthread_create(&thread, NULL, be_cancelled, &writes);
    until_it_waits();
    pthread_cancel(thread);
    pthread_join(thread, &result);
    check(result == PTHREAD_CANCELED, "cancelled");
    tally_jumped(kCall_read);
  }
  return 7;
}

static int depth;
static jmp_buf from_depth;

static int at_each(const char* path, const struct stat* status, int kind, struct FTW* where) {
  (void)status, (void)kind, (void)where;
  write_main(1);
  if (depth == 1) longjmp(from_depth, 1);
  if (depth < 0 && ++depth == 0) return 0;
  if (depth > 0) --depth;
  return CALL(STATUS, nftw, folder, path, at_each, 3, FTW_PHYS);
}

static int nested(void) {
  depth = -70;
  check(CALL(STATUS, nftw, folder, "folder", at_each, 3, FTW_PHYS) == 0, "nftw");
  return 7;
}

static int longjmps(void) {
  for (volatile int i = 0; i < 9; ++i) {
    depth = 5;
    if (setjmp(from_depth) == 0) CALL(STATUS, nftw, folder, "folder", at_each, 3, FTW_PHYS);
    for (int level = 0; level < 5; ++level) tally_jumped(kCall_nftw);
  }
  write_main(3);
  return 7;
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    int (*run)(void);
  } cases[] = {{"handlers", handlers}, {"forks", forks},     {"jump", jumps},
               {"altstack", altstack}, {"storm", storm},     {"cancel", cancel},
               {"nested", nested},     {"longjmp", longjmps}};
  tally_open();
  for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(argv[1], cases[i].name) == 0) return cases[i].run();
  return 94;
}
