/* SPDX-License-Identifier: Apache-2.0
 * fathom-spawn: the parent of the target. Static and tiny, because a child starts its peak-memory
 * figure from its parent's size; the subreaper of the target's tree, so that orphans are reaped
 * here and their figures kept; the one that hands the terminal to the target and takes it back. It
 * outlives a killed recorder until the target ends, so that the target never notices. Usage:
 * fathom-spawn SOCKET-FD CGROUP-FD TASKS-FD TASKS-FD COMMAND [ARGS]; CGROUP-FD is the directory of
 * the cgroup in which the target is to be born, TASKS-FD the file `tasks` of a cgroup of version 1
 * that it is to join; -1: none. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wire/spawn.h"

static int socket_fd = -1;
static pid_t main_pid;
static int main_status;
static int main_ended;
static int recorder_gone;
static int tty_fd = -1; /* open while the terminal is ours to lend */

enum { kTasksFiles = 2 };

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void say(struct fathom_spawn_message* message) {
  message->time_ns = now_ns();
  if (send(socket_fd, message, sizeof *message, MSG_NOSIGNAL) < 0) recorder_gone = 1;
}

static void say_kind(uint32_t kind, int error) {
  struct fathom_spawn_message message = {
      .kind = kind, .pid = main_pid, .error = error, .is_main = 1};
  say(&message);
}

/* ---- the terminal ---- */

static void lend_terminal(pid_t group) {
  if (tty_fd >= 0) tcsetpgrp(tty_fd, group);
}

static void open_terminal(void) {
  const int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  if (tcgetpgrp(fd) == getpgrp()) {
    tty_fd = fd;
  } else {
    close(fd);
  }
}

/* The user pressed Ctrl-Z: stop with the target, as one job, and go on with it. */
static void stop_together(void) {
  if (tty_fd < 0) return;
  lend_terminal(getpgrp());
  kill(0, SIGSTOP);
  if (tcgetpgrp(tty_fd) == getpgrp()) lend_terminal(main_pid);
  kill(-main_pid, SIGCONT);
}

/* ---- the child ---- */

/* fork(2) into a cgroup: moving a process there afterwards makes all CPUs wait for each other. */
static pid_t fork_into(int cgroup_fd, int* born_there) {
  struct clone_args wanted = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
  wanted.cgroup = (uint64_t)cgroup_fd;
  *born_there = 1;
  const pid_t pid = cgroup_fd < 0 ? -1 : (pid_t)syscall(SYS_clone3, &wanted, sizeof wanted);
  if (pid >= 0) return pid;
  *born_there = 0;
  return fork();
}

/* A thread that moves itself does not have to wait for all CPUs, as one that moves another does.
 * Not by write(2), whose bytes would be counted as the target's: `zeros` is a pipe with a "0" for
 * each. Returns whether it has joined them all. */
static int join_cgroups(const int* tasks_fds, int zeros) {
  int joined = 1;
  for (int i = 0; i < kTasksFiles; ++i)
    if (tasks_fds[i] >= 0 && splice(zeros, NULL, tasks_fds[i], NULL, 1, 0) != 1) joined = 0;
  return joined;
}

static void run_child(char** command, const sigset_t* mask, int gate, int failure) {
  char go;
  setpgid(0, 0);
  lend_terminal(getpid());
  ssize_t got;
  do {
    got = read(gate, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) _exit(125); /* the recorder went away before it said go */
  sigprocmask(SIG_SETMASK, mask, NULL);
  execvp(command[0], command);
  const int error = errno;
  (void)!write(failure, &error, sizeof error);
  _exit(error == ENOENT ? 127 : 126);
}

/* ---- the dead ---- */

struct io_figures {
  int64_t read_chars, written_chars, disk_read_bytes, disk_written_bytes;
};

static int64_t field_of(const char* text, const char* name) {
  const char* at = strstr(text, name);
  return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

/* Our own figures: children that were waited for are in them. Returns how many bytes were read,
 * which the next reading counts as ours. */
static ssize_t read_own_io(struct io_figures* io) {
  char text[512];
  const int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return -1;
  text[size] = '\0';
  io->read_chars = field_of(text, "rchar: ");
  io->written_chars = field_of(text, "wchar: ");
  io->disk_read_bytes = field_of(text, "\nread_bytes: ");
  io->disk_written_bytes = field_of(text, "\nwrite_bytes: ");
  return size;
}

/* What a child brought us by being waited for. Its own /proc/PID/io would say the same, but that of
 * a zombie may be read by root alone. */
static void set_io(struct fathom_spawn_message* message, const struct io_figures* before,
                   const struct io_figures* after, ssize_t read_between) {
  message->has_io = 1;
  message->read_chars = after->read_chars - before->read_chars - read_between;
  message->written_chars = after->written_chars - before->written_chars;
  message->disk_read_bytes = after->disk_read_bytes - before->disk_read_bytes;
  message->disk_written_bytes = after->disk_written_bytes - before->disk_written_bytes;
}

static int64_t ns_of(struct timeval time) {
  return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

static void bury(pid_t pid) {
  struct fathom_spawn_message message = {.kind = FATHOM_SPAWN_EXITED, .pid = pid};
  struct io_figures before, after;
  const ssize_t read_before = read_own_io(&before);
  struct rusage usage;
  int status = 0;
  if (wait4(pid, &status, 0, &usage) != pid) return;
  if (read_before >= 0 && read_own_io(&after) >= 0) set_io(&message, &before, &after, read_before);
  message.status = status;
  message.user_ns = ns_of(usage.ru_utime);
  message.system_ns = ns_of(usage.ru_stime);
  message.max_rss_bytes = (int64_t)usage.ru_maxrss * 1024;
  message.minor_faults = usage.ru_minflt;
  message.major_faults = usage.ru_majflt;
  message.voluntary_switches = usage.ru_nvcsw;
  message.involuntary_switches = usage.ru_nivcsw;
  if (pid == main_pid) {
    message.is_main = 1;
    main_ended = 1;
    main_status = status;
    lend_terminal(getpgrp());
  }
  say(&message);
}

static void reap(void) {
  for (;;) {
    siginfo_t info = {0};
    const int options = WEXITED | WSTOPPED | WNOHANG | WNOWAIT;
    if (waitid(P_ALL, 0, &info, options) != 0 || info.si_pid == 0) return;
    if (info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED) {
      waitid(P_PID, (id_t)info.si_pid, &info, WSTOPPED | WNOHANG);
      if (info.si_pid == main_pid) stop_together();
    } else {
      bury(info.si_pid);
    }
  }
}

/* ---- the loop ---- */

/* Waits for the recorder's word; 0 if it went away. */
static char hear(void) {
  char word = 0;
  ssize_t got;
  do {
    got = recv(socket_fd, &word, 1, 0);
  } while (got < 0 && errno == EINTR);
  return got == 1 ? word : 0;
}

static int start(char** command, int cgroup_fd, const int* tasks_fds, const sigset_t* mask) {
  int gate[2];
  int failure[2];
  int joined[2];
  int zeros[2];
  if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0 ||
      pipe2(joined, O_CLOEXEC) != 0 || pipe2(zeros, O_CLOEXEC) != 0)
    return -1;
  (void)!write(zeros[1], "00", kTasksFiles);
  int in_cgroup = 0;
  main_pid = fork_into(cgroup_fd, &in_cgroup);
  if (main_pid < 0) return -1;
  if (main_pid == 0) {
    close(gate[1]);
    /* What it writes is counted as the target's: nothing if all went well. */
    if (!join_cgroups(tasks_fds, zeros[0])) (void)!write(joined[1], "F", 1);
    close(joined[1]);
    run_child(command, mask, gate[0], failure[1]);
  }
  close(gate[0]);
  close(failure[1]);
  close(joined[1]);
  close(zeros[0]);
  close(zeros[1]);
  setpgid(main_pid, main_pid);
  char failed;
  ssize_t failures;
  do {
    failures = read(joined[0], &failed, 1);
  } while (failures < 0 && errno == EINTR);
  close(joined[0]);
  struct fathom_spawn_message ready = {
      .kind = FATHOM_SPAWN_READY, .pid = main_pid, .is_main = 1, .in_cgroup = in_cgroup};
  ready.in_others = failures == 0;
  say(&ready);
  if (hear() == FATHOM_SPAWN_GO) (void)!write(gate[1], "G", 1);
  close(gate[1]);
  int error = 0;
  const ssize_t got = read(failure[0], &error, sizeof error);
  close(failure[0]);
  say_kind(got == sizeof error ? FATHOM_SPAWN_FAILED : FATHOM_SPAWN_STARTED, error);
  return 0;
}

/* A descriptor that was handed over, and is not for the target. */
static int descriptor_from(const char* argument) {
  const int fd = atoi(argument);
  if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
}

int main(int argc, char** argv) {
  if (argc < 6) return 125;
  socket_fd = descriptor_from(argv[1]);
  const int cgroup_fd = descriptor_from(argv[2]);
  const int tasks_fds[kTasksFiles] = {descriptor_from(argv[3]), descriptor_from(argv[4])};
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  open_terminal();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  const int deaths = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (start(argv + 5, cgroup_fd, tasks_fds, &before) != 0) {
    say_kind(FATHOM_SPAWN_FAILED, errno);
    return 125;
  }
  if (cgroup_fd >= 0) close(cgroup_fd);
  for (int i = 0; i < kTasksFiles; ++i)
    if (tasks_fds[i] >= 0) close(tasks_fds[i]);
  for (;;) {
    reap();
    if (recorder_gone && main_ended) break;
    struct pollfd ready[2] = {{deaths, POLLIN, 0}, {recorder_gone ? -1 : socket_fd, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR) break;
    struct signalfd_siginfo drained;
    while (read(deaths, &drained, sizeof drained) > 0) {
    }
    if (ready[1].revents != 0) {
      const char word = hear();
      if (word == FATHOM_SPAWN_QUIT) break;
      if (word == 0) recorder_gone = 1;
    }
  }
  return WIFEXITED(main_status) ? WEXITSTATUS(main_status) : 128 + WTERMSIG(main_status);
}
