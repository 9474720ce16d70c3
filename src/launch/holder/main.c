/* SPDX-License-Identifier: Apache-2.0
 * fathom-hold: the first process of a container. Static, so that it runs in any image; mounted
 * read-only, so that the image stays as it is. It tells the launcher that it is there, waits until
 * probes have attached, takes the recorder's stdin, stdout and stderr, and becomes the command that
 * stands behind its name; or stays, and runs the steps it is told. Usage: fathom-hold COMMAND…  */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/hold.h"

enum { kMostSteps = 256, kOurs = 125, kNotExecutable = 126, kNotFound = 127 };

struct step {
  pid_t pid;
  int id;
};

static int socket_fd = -1;
static struct step steps[kMostSteps]; /* that run; pid 0: free */
static char packet[FATHOM_HOLD_MOST_BYTES + 1];

static int tell(const struct fathom_hold_message* message) {
  return send(socket_fd, message, sizeof *message, MSG_NOSIGNAL) == sizeof *message;
}

static void tell_kind(uint32_t kind, int id, int value) {
  const struct fathom_hold_message message = {.kind = kind, .id = id, .value = value};
  tell(&message);
}

/* ---- which C library ---- */

/* The path a command's word stands for, as execvp(3) looks for it. */
static int open_program(const char* word) {
  if (strchr(word, '/')) return open(word, O_RDONLY | O_CLOEXEC);
  const char* path = getenv("PATH");
  if (!path) path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  char name[4096];
  for (; *path; path += *path == ':') {
    const size_t length = strcspn(path, ":");
    const int size = snprintf(name, sizeof name, "%.*s/%s", (int)length, path, word);
    path += length;
    if (size < 0 || size >= (int)sizeof name || access(name, X_OK) != 0) continue;
    return open(name, O_RDONLY | O_CLOEXEC);
  }
  return -1;
}

/* Whether the loader it asks for is musl's. */
static int asks_for_musl(int fd) {
  Elf64_Ehdr head;
  if (pread(fd, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return 0;
  for (int i = 0; i < head.e_phnum && i < 64; ++i) {
    Elf64_Phdr part;
    char loader[256] = "";
    if (pread(fd, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) != sizeof part)
      return 0;
    if (part.p_type != PT_INTERP || part.p_filesz >= sizeof loader) continue;
    if (pread(fd, loader, part.p_filesz, (off_t)part.p_offset) < 0) return 0;
    return strstr(loader, "ld-musl") != NULL;
  }
  return 0;
}

static int libraries(const char* command) {
  int found = 0;
  if (access("/lib64/ld-linux-x86-64.so.2", F_OK) == 0 ||
      access("/lib/ld-linux-aarch64.so.1", F_OK) == 0)
    found |= FATHOM_HOLD_GLIBC;
  DIR* folder = opendir("/lib");
  for (struct dirent* entry; folder && (entry = readdir(folder));)
    if (strncmp(entry->d_name, "ld-musl-", 8) == 0) found |= FATHOM_HOLD_MUSL;
  if (folder) closedir(folder);
  const int fd = command ? open_program(command) : -1;
  if (fd >= 0 && asks_for_musl(fd)) found |= FATHOM_HOLD_PROGRAM_MUSL;
  if (fd >= 0) close(fd);
  return found;
}

/* ---- orders ---- */

static int call_launcher(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = FATHOM_HOLD_SOCKET};
  socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return -1;
  return connect(socket_fd, (const struct sockaddr*)&address, sizeof address);
}

static void take_descriptors(struct msghdr* head) {
  for (struct cmsghdr* part = CMSG_FIRSTHDR(head); part; part = CMSG_NXTHDR(head, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    int fds[3];
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    if (count > 3) _exit(kOurs);
    memcpy(fds, CMSG_DATA(part), count * sizeof(int));
    for (size_t i = 0; i < count; ++i) {
      dup2(fds[i], (int)i);
      if (fds[i] > 2) close(fds[i]);
    }
  }
}

/* The next order, in `packet`; NULL: the launcher is gone. */
static const struct fathom_hold_order* next_order(void) {
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(3 * sizeof(int))];
  } control;
  struct iovec part = {packet, FATHOM_HOLD_MOST_BYTES};
  struct msghdr head = {.msg_iov = &part,
                        .msg_iovlen = 1,
                        .msg_control = control.room,
                        .msg_controllen = sizeof control.room};
  ssize_t got;
  do {
    got = recvmsg(socket_fd, &head, 0);
  } while (got < 0 && errno == EINTR);
  if (got < (ssize_t)sizeof(struct fathom_hold_order)) return NULL;
  packet[got] = '\0';
  take_descriptors(&head);
  return (const struct fathom_hold_order*)packet;
}

/* ---- steps ---- */

static void run_step(const struct fathom_hold_order* order, const sigset_t* mask, int failure) {
  static char* words[FATHOM_HOLD_MOST_BYTES / 2];
  char* at = packet + sizeof *order;
  char* const end = packet + FATHOM_HOLD_MOST_BYTES;
  uint32_t i = 0;
  for (; i < order->words && at < end; ++i, at += strlen(at) + 1) words[i] = at;
  words[i] = NULL;
  for (uint32_t j = 0; j < order->settings && at < end; ++j, at += strlen(at) + 1) putenv(at);
  setpgid(0, 0);
  sigprocmask(SIG_SETMASK, mask, NULL);
  if (words[0]) execvp(words[0], words);
  const int error = words[0] ? errno : EINVAL;
  (void)!write(failure, &error, sizeof error);
  _exit(error == ENOENT ? kNotFound : kNotExecutable);
}

static void start_step(const struct fathom_hold_order* order, const sigset_t* mask) {
  struct step* place = NULL;
  for (int i = 0; i < kMostSteps && !place; ++i)
    if (steps[i].pid == 0) place = &steps[i];
  int failure[2];
  if (!place || pipe2(failure, O_CLOEXEC) != 0) {
    tell_kind(FATHOM_HOLD_FAILED, order->id, EAGAIN);
    return;
  }
  const pid_t pid = fork();
  if (pid == 0) run_step(order, mask, failure[1]);
  close(failure[1]);
  int error = pid < 0 ? errno : 0;
  if (pid > 0 && read(failure[0], &error, sizeof error) != sizeof error) error = 0;
  close(failure[0]);
  if (error != 0) {
    tell_kind(FATHOM_HOLD_FAILED, order->id, error);
    return; /* the child is reaped with the others */
  }
  place->pid = pid;
  place->id = order->id;
  tell_kind(FATHOM_HOLD_STARTED, order->id, 0);
}

static int64_t ns_of(struct timeval time) {
  return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

static int last_status;

static void reap(void) {
  int status;
  struct rusage usage;
  pid_t pid;
  while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
    for (int i = 0; i < kMostSteps; ++i) {
      if (steps[i].pid != pid) continue;
      const struct fathom_hold_message message = {.kind = FATHOM_HOLD_ENDED,
                                                  .id = steps[i].id,
                                                  .value = status,
                                                  .user_ns = ns_of(usage.ru_utime),
                                                  .system_ns = ns_of(usage.ru_stime),
                                                  .max_rss_bytes = (int64_t)usage.ru_maxrss * 1024};
      steps[i].pid = 0;
      last_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      tell(&message);
    }
  }
}

static int running(void) {
  int count = 0;
  for (int i = 0; i < kMostSteps; ++i) count += steps[i].pid != 0;
  return count;
}

/* id < 0: all of them. */
static void signal_steps(int id, int number) {
  for (int i = 0; i < kMostSteps; ++i)
    if (steps[i].pid != 0 && (id < 0 || steps[i].id == id)) kill(-steps[i].pid, number);
}

/* Returns what to exit with, or -1. */
static int obey(const sigset_t* mask) {
  const struct fathom_hold_order* order = next_order();
  if (!order) {
    close(socket_fd);
    socket_fd = -1;
    return -1;
  }
  if (order->kind == FATHOM_HOLD_STEP) start_step(order, mask);
  if (order->kind == FATHOM_HOLD_KILL) signal_steps(order->id, order->value);
  return order->kind == FATHOM_HOLD_QUIT ? order->value : -1;
}

/* Signals that others send to the container go to all that runs in it. */
static int run_steps(void) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const int signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  for (;;) {
    reap();
    if (socket_fd < 0 && running() == 0) return last_status;
    struct pollfd ready[2] = {{signals, POLLIN, 0}, {socket_fd, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR) return kOurs;
    struct signalfd_siginfo told;
    while (read(signals, &told, sizeof told) == sizeof told)
      if (told.ssi_signo != SIGCHLD) signal_steps(-1, (int)told.ssi_signo);
    if (ready[1].revents == 0) continue;
    const int status = obey(&before);
    if (status >= 0) return status;
  }
}

int main(int argc, char** argv) {
  prctl(PR_SET_NAME, "fathom-hold"); /* where it is mounted it has another, which says nothing */
  if (call_launcher() != 0) {
    static const char kWords[] = "fathom-hold: nobody records this container any more\n";
    (void)!write(2, kWords, sizeof kWords - 1);
    return kOurs;
  }
  tell_kind(FATHOM_HOLD_HELLO, 0, libraries(argc > 1 ? argv[1] : NULL));
  const struct fathom_hold_order* order = next_order();
  if (!order) return kOurs; /* the recorder went away before it said go */
  if (order->flags & FATHOM_HOLD_NO_PRELOAD) unsetenv("LD_PRELOAD");
  if (order->kind == FATHOM_HOLD_STAY) return run_steps();
  if (order->kind != FATHOM_HOLD_GO || argc < 2) return kOurs;
  execvp(argv[1], argv + 1);
  const int error = errno;
  tell_kind(FATHOM_HOLD_FAILED, 0, error);
  return error == ENOENT ? kNotFound : kNotExecutable;
}
