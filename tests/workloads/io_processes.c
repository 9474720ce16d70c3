/* SPDX-License-Identifier: Apache-2.0
 * io_processes CASE: I/O where processes begin and end in unusual ways. What it does it counts in
 * ./tally (io_tally.h). Exits with 7 when all of it went as it should.
 *   plain      17 writes                    exec     itself 5 times over, 7 writes each
 *   vfork      21 children that write and exec or _exit, one that cannot exec, some of a process
 *              that was itself forked just before
 *   spawn      9 programs by posix_spawn    dlopen   a library that does I/O when it is loaded
 *   ends       children that end by exit, _exit, quick_exit, abort, SIGKILL and SIGSEGV
 *   close-all  closes what it does not know, three ways, and goes on
 *   chroot     to ./root, then forks        threads  2,000 one after the other, 40 x 64 at once
 *   daemon     a child that goes on when its parent has ended
 *   orphans    the same after exec: of a forked child, of a vfork child; and one that was killed
 * and that nobody waited for */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "io_tally.h"

extern char** environ;
static const char* self;

static void check(bool good, const char* what) {
  if (good) return;
  syscall(SYS_write, 2, what, strlen(what));
  syscall(SYS_write, 2, "\n", 1);
  syscall(SYS_exit_group, 92);
}

static void check_end(pid_t pid, int expected) {
  int status = -1;
  check(waitpid(pid, &status, 0) == pid, "waitpid");
  check(status == expected, "how a child ended");
}

static int plain(void) {
  WRITE_SOME(child, "child", 17);
  return 7;
}

static int exec_itself(const char* times) {
  char left[16];
  snprintf(left, sizeof left, "%d", atoi(times) - 1);
  WRITE_SOME(main, "main", 7);
  if (atoi(times) == 0) return 7;
  execl(self, self, "exec", left, (char*)NULL);
  return 93;
}

static void vfork_one(int round) {
  const pid_t pid = vfork();
  check(pid >= 0, "vfork");
  if (pid == 0) {
    if (round % 7 != 3) WRITE_SOME(child, "child", round % 5); /* else it does nothing */
    if (round % 3 == 0) execl(self, self, "plain", (char*)NULL);
    if (round % 3 == 1) {
      execl("no-such-program", "no-such-program", (char*)NULL);
      WRITE_SOME(child, "child", 1);
    }
    _exit(7);
  }
  check_end(pid, 7 << 8);
}

static int vforks(void) {
  for (int round = 0; round < 21; ++round) {
    vfork_one(round);
    WRITE_SOME(main, "main", 3);
  }
  vfork_one(1); /* and the next call of this thread is made by a forked child's vfork child */
  const pid_t pid = fork();
  if (pid == 0) {
    for (int round = 0; round < 5; ++round) vfork_one(round);
    WRITE_SOME(thread, "thread", 5);
    exit(9);
  }
  check_end(pid, 9 << 8);
  WRITE_SOME(main, "main", 3);
  return 7;
}

static int spawn(void) {
  for (int i = 0; i < 9; ++i) {
    pid_t pid = -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 9, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addclose(&actions, 9);
    char* arguments[] = {(char*)self, (char*)"plain", NULL};
    WRITE_SOME(main, "main", 1);
    check(posix_spawn(&pid, self, &actions, NULL, arguments, environ) == 0, "posix_spawn");
    check_end(pid, 7 << 8);
    posix_spawn_file_actions_destroy(&actions);
  }
  return 7;
}

static int load(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s", self);
  snprintf(strrchr(path, '/'), 64, "/libio_at_load.so");
  for (int i = 0; i < 3; ++i) {
    WRITE_SOME(main, "main", 1);
    void* library = dlopen(path, RTLD_NOW);
    check(library != NULL, "dlopen");
    int (*work)(int) = (int (*)(int))dlsym(library, "io_at_load_work");
    check(work != NULL && work(11) == 11, "dlsym");
    check(dlclose(library) == 0, "dlclose");
  }
  return 7;
}

static void end(int how) {
  WRITE_SOME(child, "child", 13 + how);
  if (how == 0) exit(3);
  if (how == 1) _exit(4);
  if (how == 2) quick_exit(5);
  if (how == 3) abort();
  if (how == 4) kill(getpid(), SIGKILL);
  if (how == 5) raise(SIGSEGV);
  pause();
}

static int ends(void) {
  const int expected[] = {3 << 8, 4 << 8, 5 << 8, SIGABRT, SIGKILL, SIGSEGV};
  for (int how = 0; how < 6; ++how) {
    const pid_t pid = fork();
    if (pid == 0) end(how);
    int status = -1;
    check(waitpid(pid, &status, 0) == pid, "waitpid");
    check((status & ~0x80) == expected[how], "how a child ended"); /* with a core or without */
  }
  WRITE_SOME(main, "main", 3);
  return 7;
}

static int close_all(void) {
  WRITE_SOME(main, "main", 3);
  CALL(STATUS, open, main, "main", O_RDONLY);
  for (int fd = 3; fd < 1024; ++fd) { /* the first is the one just opened */
    if (fd == 3)
      CALL(STATUS, close, main, fd);
    else
      CALL(STATUS, close, none, fd);
  }
  WRITE_SOME(main, "main", 5);
  CALL(STATUS, open, main, "main", O_RDONLY);
  closefrom(3);
  tally_add(kCall_closefrom, kFile_none, 0, false);
  WRITE_SOME(main, "main", 7);
  CALL(STATUS, open, main, "main", O_RDONLY);
  CALL(STATUS, close_range, none, 3, ~0U, 0);
  const int fd = CALL(STATUS, open, child, "child", O_RDWR | O_CREAT, 0666);
  CALL(BYTES, write, child, fd, tally_block, 31);
  for (int i = 0; i < 3; ++i) CALL(STATUS, close_range, none, 3, ~0U, 0);
  CALL(BYTES, write, none, fd, tally_block, 31);
  return 7;
}

static int change_root(void) {
  WRITE_SOME(main, "main", 3);
  check(CALL(STATUS, chroot, folder, "folder") == 0, "chroot");
  WRITE_SOME(main, "/main", 5);
  const pid_t pid = fork();
  if (pid == 0) {
    WRITE_SOME(child, "/child", 7);
    exit(9);
  }
  check_end(pid, 9 << 8);
  WRITE_SOME(main, "/main", 9);
  return 7;
}

static void* write_three(void* barrier) {
  WRITE_SOME(thread, "thread", 3);
  if (barrier != NULL) pthread_barrier_wait(barrier);
  return NULL;
}

static int threads(void) {
  pthread_t many[64];
  pthread_barrier_t barrier;
  for (int i = 0; i < 2000; ++i) {
    check(pthread_create(&many[0], NULL, write_three, NULL) == 0, "pthread_create");
    pthread_join(many[0], NULL);
  }
  pthread_barrier_init(&barrier, NULL, 64);
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 64; ++i)
      check(pthread_create(&many[i], NULL, write_three, &barrier) == 0, "pthread_create");
    for (int i = 0; i < 64; ++i) pthread_join(many[i], NULL);
  }
  return 7;
}

static int daemonize(void) {
  int fds[2];
  check(CALL(STATUS, pipe, none, fds) == 0, "pipe");
  if (fork() == 0) {
    char end_of_parent;
    CALL(STATUS, close, none, fds[1]); /* nobody asked what it was */
    CALL(BYTES, read, pipe, fds[0], &end_of_parent, 1);
    WRITE_SOME(child, "child", 11);
    exit(0);
  }
  WRITE_SOME(main, "main", 3);
  return 7;
}

/* Waits on standard input for the end of its parent. */
static int plain_later(void) {
  char byte;
  syscall(SYS_read, 0, &byte, 1);
  return plain();
}

static int orphans(void) {
  int fds[2];
  siginfo_t ended;
  check(CALL(STATUS, pipe, none, fds) == 0, "pipe");
  WRITE_SOME(main, "main", 1);
  const pid_t killed = fork();
  if (killed == 0) end(4);
  check(waitid(P_PID, (id_t)killed, &ended, WEXITED | WNOWAIT) == 0, "waitid");
  for (int i = 0; i < 2; ++i) {
    const pid_t pid = i == 0 ? fork() : vfork();
    if (pid == 0) {
      CALL(STATUS, dup2, pipe, fds[0], 0);
      CALL(STATUS, close, pipe, fds[0]);
      CALL(STATUS, close_range, none, 3, ~0U, 0);
      execl(self, self, "plain-later", (char*)NULL);
      _exit(93);
    }
  }
  WRITE_SOME(main, "main", 3);
  return 7;
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    int (*run)(void);
  } cases[] = {{"plain", plain},
               {"vfork", vforks},
               {"spawn", spawn},
               {"dlopen", load},
               {"ends", ends},
               {"close-all", close_all},
               {"threads", threads},
               {"chroot", change_root},
               {"daemon", daemonize},
               {"orphans", orphans},
               {"plain-later", plain_later}};
  self = argv[0];
  tally_open();
  if (argc == 3 && strcmp(argv[1], "exec") == 0) return exec_itself(argv[2]);
  for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(argv[1], cases[i].name) == 0) return cases[i].run();
  return 94;
}
