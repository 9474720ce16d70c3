/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and marks of a C or C++ program on the time axis of its recording (`fathom run -- ./app`).
 * Copy this file into the program; it needs libc only.
 *
 *   fathom_number("queue_length", 17, "items");
 *   fathom_timer("step", seconds);                 seconds that something took
 *   fathom_rate("frames", seconds);                how often a second: 1 / seconds
 *   fathom_mark("epoch 3");
 *
 * Without a recorder these do nothing. They never wait, never raise a signal and keep errno; a
 * value that finds no room is dropped, and the recording says how many were (for which the end of
 * the program may wait 0.1 s). Any thread; after fork() the child has a connection of its own. */
#ifndef FATHOM_H
#define FATHOM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_state {
  uint64_t link; /* whose: process id, then its descriptor + 1, or 0 if nobody is there */
  long lost;     /* not yet told */
};
/* One for all files of the program that include this. */
__attribute__((weak)) struct fathom_state fathom_state_;

static inline double fathom_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline int fathom_connect_(void) {
  struct sockaddr_un address;
  const int room = 1 << 20;
  const char* path = getenv("FATHOM_SOCKET");
  int fd;
  memset(&address, 0, sizeof address);
  if (path == NULL || strlen(path) >= sizeof address.sun_path) return -1;
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path, path);
  fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  if (connect(fd, (const struct sockaddr*)&address, sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

static inline uint64_t fathom_link_(int fd) {
  return (uint64_t)(uint32_t)getpid() << 32 | (uint32_t)(fd + 1);
}

/* The descriptor, or -1. Where two threads connect at once, one connection stays. */
static inline int fathom_fd_(void) {
  uint64_t link = __atomic_load_n(&fathom_state_.link, __ATOMIC_ACQUIRE);
  int fd;
  if (link >> 32 == (uint32_t)getpid()) return (int)(link & 0xffffffff) - 1;
  fd = fathom_connect_();
  if (__atomic_compare_exchange_n(&fathom_state_.link, &link, fathom_link_(fd), 0, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    if ((link & 0xffffffff) != 0) close((int)(link & 0xffffffff) - 1); /* came by fork */
    return fd;
  }
  if (fd >= 0) close(fd);
  return (int)(link & 0xffffffff) - 1;
}

static inline void fathom_tell_lost_(int fd) {
  const long lost = __atomic_exchange_n(&fathom_state_.lost, 0, __ATOMIC_RELAXED);
  char text[64];
  int size;
  if (lost == 0) return;
  size = snprintf(text, sizeof text, "{\"fathom_dropped\":%ld}\n", lost);
  if (send(fd, text, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL) != size)
    __atomic_fetch_add(&fathom_state_.lost, lost, __ATOMIC_RELAXED);
}

/* A message goes as a whole or not at all. */
static inline void fathom_send_(int fd, const char* message, size_t length) {
  const ssize_t sent = send(fd, message, length, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent == (ssize_t)length) {
    fathom_tell_lost_(fd);
  } else if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
    /* The recorder has gone. The descriptor stays: another thread may be using it. */
    __atomic_store_n(&fathom_state_.link, fathom_link_(-1), __ATOMIC_RELEASE);
  } else {
    __atomic_fetch_add(&fathom_state_.lost, 1, __ATOMIC_RELAXED);
  }
}

__attribute__((destructor)) static inline void fathom_end_(void) {
  const uint64_t link = __atomic_load_n(&fathom_state_.link, __ATOMIC_ACQUIRE);
  struct pollfd room;
  if (link >> 32 != (uint32_t)getpid() || (link & 0xffffffff) == 0) return;
  if (__atomic_load_n(&fathom_state_.lost, __ATOMIC_RELAXED) == 0) return;
  room.fd = (int)(link & 0xffffffff) - 1;
  room.events = POLLOUT;
  if (poll(&room, 1, 100) == 1) fathom_tell_lost_(room.fd);
}

/* The text as it stands in a JSON string, cut to what fits; returns its length. */
static inline size_t fathom_escape_(char* out, size_t room, const char* text) {
  size_t used = 0;
  for (; *text != '\0' && used + 6 < room; ++text) {
    const unsigned char byte = (unsigned char)*text;
    if (byte == '"' || byte == '\\') out[used++] = '\\';
    if (byte < 0x20)
      used += (size_t)snprintf(out + used, room - used, "\\u%04x", byte);
    else
      out[used++] = (char)byte;
  }
  if (*text != '\0') { /* not in the middle of a character */
    while (used > 0 && ((unsigned char)out[used - 1] & 0xc0) == 0x80) --used;
    if (used > 0 && ((unsigned char)out[used - 1] & 0xc0) == 0xc0) --used;
  }
  out[used] = '\0';
  return used;
}

static inline int64_t fathom_time_ns_(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A locale may write 0,25. */
static inline void fathom_digits_(char* out, size_t room, double value) {
  char* to = out;
  const char* from = out;
  snprintf(out, room, "%.17g", value);
  for (; *from != '\0'; ++from) {
    if (strchr("0123456789+-e", *from) != NULL)
      *to++ = *from;
    else if (to == out || to[-1] != '.')
      *to++ = '.';
  }
  *to = '\0';
}

/* `unit` may be NULL. */
static inline void fathom_number(const char* name, double value, const char* unit) {
  const int kept = errno;
  const int fd = fathom_fd_();
  char escaped[512], escaped_unit[128], digits[64], message[1024];
  if (fd >= 0 && isfinite(value)) {
    int length;
    fathom_escape_(escaped, sizeof escaped, name);
    fathom_escape_(escaped_unit, sizeof escaped_unit, unit == NULL ? "" : unit);
    fathom_digits_(digits, sizeof digits, value);
    length = snprintf(message, sizeof message,
                      "{\"name\":\"%s\",\"value\":%s,\"unit\":\"%s\",\"time_ns\":%lld}\n", escaped,
                      digits, escaped_unit, (long long)fathom_time_ns_());
    fathom_send_(fd, message, (size_t)length);
  }
  errno = kept;
}

static inline void fathom_timer(const char* name, double seconds) {
  fathom_number(name, seconds, "s");
}

static inline void fathom_rate(const char* name, double seconds) {
  if (seconds > 0) fathom_number(name, 1 / seconds, "1/s");
}

static inline void fathom_mark(const char* text) {
  const int kept = errno;
  const int fd = fathom_fd_();
  char escaped[2048], message[2304];
  if (fd >= 0) {
    int length;
    fathom_escape_(escaped, sizeof escaped, text);
    length = snprintf(message, sizeof message, "{\"mark\":\"%s\",\"time_ns\":%lld}\n", escaped,
                      (long long)fathom_time_ns_());
    fathom_send_(fd, message, (size_t)length);
  }
  errno = kept;
}

#ifdef __cplusplus
}
#endif

#endif
