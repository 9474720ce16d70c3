/* SPDX-License-Identifier: Apache-2.0
 * Puts itself under seccomp and goes on with calls that its filter allows; any other ends it:
 *
 *   sandboxed HOW CASE [PROGRAM]
 * HOW is prctl, seccomp (by syscall) or syscall-prctl.
 *
 * CASE filter: writes 23 times to the file `before`, then, under a filter, 11 times to `after`, 5
 * times to stdout and once to a copy of it, and reads and closes a file that was open before.
 * strict: the same in strict mode, which does not allow to close. thread: a thread does so, with a
 * child and a thread of its own; the first thread writes to `after`, too, as soon as these have
 * ended. tsync: four threads write to new pipes while another puts them all under a filter. fork:
 * the child does. failed: the filter cannot be read. tsc: no filter, but no time stamp counter.
 * exec: a program with a filter that allows no more than a loader needs runs `PROGRAM -
 * filtered`. Ends with status 7. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* how;
static int before, after, input, copy;

#define ALLOW(name)                                      \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* What the C library itself calls to end, fork or create threads, and what the cases do. */
static struct sock_filter few[] = {NUMBER,          ALLOW(read),   ALLOW(write),
                                   ALLOW(close),    ALLOW(exit),   ALLOW(exit_group),
                                   ALLOW(futex),    ALLOW(wait4),  ALLOW(clone),
                                   ALLOW(clone3),   ALLOW(rseq),   ALLOW(mmap),
                                   ALLOW(mprotect), ALLOW(munmap), ALLOW(set_robust_list),
                                   ALLOW(madvise),  ALLOW(pipe2),  ALLOW(rt_sigprocmask),
                                   ALLOW(gettid),   KILL};
/* The same, and what a loader calls: files may be read only. */
static struct sock_filter loading[] = {
    NUMBER,
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_WRONLY | O_RDWR | O_CREAT, 0, 1),
    KILL,
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    ALLOW(execve),
    ALLOW(brk),
    ALLOW(access),
    ALLOW(newfstatat),
    ALLOW(pread64),
    ALLOW(arch_prctl),
    ALLOW(set_tid_address),
    ALLOW(set_robust_list),
    ALLOW(rseq),
    ALLOW(prlimit64),
    ALLOW(getrandom),
    ALLOW(mmap),
    ALLOW(mprotect),
    ALLOW(munmap),
    ALLOW(read),
    ALLOW(write),
    ALLOW(close),
    ALLOW(exit_group),
    KILL};

static void check(long result) {
  if (result < 0) {
    fprintf(stderr, "sandboxed: %s\n", strerror(errno));
    exit(90);
  }
}

static long install(unsigned mode, unsigned flags, const struct sock_fprog* filter) {
  const unsigned operation =
      mode == SECCOMP_MODE_STRICT ? SECCOMP_SET_MODE_STRICT : SECCOMP_SET_MODE_FILTER;
  if (strcmp(how, "prctl") == 0) return prctl(PR_SET_SECCOMP, mode, filter, 0, 0);
  if (strcmp(how, "syscall-prctl") == 0)
    return syscall(SYS_prctl, PR_SET_SECCOMP, mode, filter, 0, 0);
  return syscall(SYS_seccomp, operation, flags, filter);
}
static long allow(struct sock_filter* filter, size_t bytes, unsigned flags) {
  const struct sock_fprog program = {(unsigned short)(bytes / sizeof *filter), filter};
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  return install(SECCOMP_MODE_FILTER, flags, &program);
}

static void write_times(int fd, int times) {
  char block[64];
  memset(block, 'x', sizeof block);
  block[13] = '\n';
  for (int i = 0; i < times; ++i)
    if (write(fd, block, 14) != 14) _exit(91);
}

/* Under the filter: 19 calls, with the one to close 20. */
static void calls(bool closes) {
  char block[64];
  write_times(after, 11);
  write_times(1, 5);
  write_times(copy, 1);
  if (read(input, block, 13) != 13 || read(input, block, 7) != 7) _exit(92);
  if (closes && close(input) != 0) _exit(93);
}

static void* in_new_thread(void* none) {
  write_times(after, 3);
  return none;
}
static void* in_sandboxed_thread(void* none) {
  pthread_t thread;
  check(allow(few, sizeof few, 0));
  calls(true);
  if (pthread_create(&thread, NULL, in_new_thread, NULL) != 0) _exit(94);
  pthread_join(thread, NULL);
  const pid_t child = fork();
  if (child == 0) {
    write_times(after, 2);
    _exit(0);
  }
  int status = 1;
  if (waitpid(child, &status, 0) != child || status != 0) _exit(95);
  return none;
}

static volatile bool ends;
static void* on_pipes(void* none) {
  char block[8];
  while (!ends) {
    int ends_of[2];
    if (pipe2(ends_of, 0) != 0) _exit(96);
    if (write(ends_of[1], "1", 1) != 1 || read(ends_of[0], block, 1) != 1) _exit(97);
    close(ends_of[0]);
    close(ends_of[1]);
  }
  return none;
}
static void all_threads(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    if (pthread_create(&threads[i], NULL, on_pipes, NULL) != 0) _exit(98);
  usleep(20000);
  check(allow(few, sizeof few, SECCOMP_FILTER_FLAG_TSYNC));
  calls(true);
  for (volatile int i = 0; i < 20000000; ++i) {
  }
  ends = true;
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

static void in_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    check(allow(few, sizeof few, 0));
    calls(true);
    _exit(0);
  }
  int status = 1;
  if (waitpid(child, &status, 0) != child || status != 0) _exit(95);
  write_times(after, 4);
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  how = arguments[1];
  const char* name = arguments[2];
  if (strcmp(name, "filtered") == 0) {
    write_times(1, 5);
    return 7;
  }
  check(before = open("before", O_WRONLY | O_CREAT | O_TRUNC, 0666));
  check(after = open("after", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666));
  check(input = (int)syscall(SYS_openat, AT_FDCWD, arguments[0],
                             O_RDONLY)); /* unseen, as if inherited */
  check(copy = (int)syscall(SYS_dup, 1));
  write_times(before, 23);
  if (strcmp(name, "filter") == 0) {
    check(allow(few, sizeof few, 0));
    calls(true);
  } else if (strcmp(name, "strict") == 0) {
    check(install(SECCOMP_MODE_STRICT, 0, NULL));
    calls(false);
    syscall(SYS_exit, 7);
  } else if (strcmp(name, "thread") == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_sandboxed_thread, NULL) != 0) return 94;
    pthread_join(thread, NULL);
    write_times(before, 6);
  } else if (strcmp(name, "tsync") == 0) {
    all_threads();
  } else if (strcmp(name, "fork") == 0) {
    in_child();
  } else if (strcmp(name, "failed") == 0) {
    if (install(SECCOMP_MODE_FILTER, 0, NULL) == 0 || errno != EFAULT) return 99;
    calls(true);
  } else if (strcmp(name, "tsc") == 0) {
    check(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
    calls(true);
  } else if (strcmp(name, "exec") == 0) {
    char* const list[] = {count > 3 ? arguments[3] : arguments[0], "-", "filtered", NULL};
    check(allow(loading, sizeof loading, 0));
    execve(list[0], list, environ);
    return 89;
  }
  _exit(7);
}
