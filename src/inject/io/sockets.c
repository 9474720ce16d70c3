/* SPDX-License-Identifier: Apache-2.0
 * Sockets, and waiting for descriptors. A socket's file is the address it was bound or connected
 * to; one that was accepted has its listener's. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "inject/core/text.h"
#include "inject/io/wrap.h"

static void put_ipv6(struct Text* text, const uint8_t* bytes) {
  static const char digits[] = "0123456789abcdef";
  put(text, "[");
  for (int i = 0; i < 16; ++i) {
    put_bytes(text, &digits[bytes[i] >> 4], 1);
    put_bytes(text, &digits[bytes[i] & 15], 1);
    if (i % 2 == 1 && i < 15) put(text, ":");
  }
  put(text, "]");
}

/* The call has succeeded, so the address is there. */
static void name_socket(int fd, const struct sockaddr* address, socklen_t length) {
  char name[160];
  struct Text text = text_in(name, sizeof name);
  if (address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
    const struct sockaddr_in* ip = (const struct sockaddr_in*)address;
    const uint8_t* bytes = (const uint8_t*)&ip->sin_addr;
    for (int i = 0; i < 4; ++i) {
      if (i > 0) put(&text, ".");
      put_number(&text, bytes[i]);
    }
    put(&text, ":");
    put_number(&text, ntohs(ip->sin_port));
  } else if (address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
    const struct sockaddr_in6* ip = (const struct sockaddr_in6*)address;
    put_ipv6(&text, (const uint8_t*)&ip->sin6_addr);
    put(&text, ":");
    put_number(&text, ntohs(ip->sin6_port));
  } else if (address->sa_family == AF_UNIX && length > offsetof(struct sockaddr_un, sun_path)) {
    const struct sockaddr_un* local = (const struct sockaddr_un*)address;
    const size_t bytes = length - offsetof(struct sockaddr_un, sun_path);
    put(&text, "unix:");
    if (local->sun_path[0] == 0) {
      put(&text, "@");
      put_bytes(&text, local->sun_path + 1, bytes - 1);
    } else {
      put_bytes(&text, local->sun_path, strnlen(local->sun_path, bytes));
    }
  } else {
    return;
  }
  set_file(fd, file_named(name, (size_t)(text.at - name)));
}
#define NAMES_SOCKET(happened)          \
  do {                                  \
    if (happened) {                     \
      const int kept = errno;           \
      name_socket(fd, address, length); \
      errno = kept;                     \
    }                                   \
  } while (0)

/* clang-format off: a line each */
WRAP(int, socket, (int family, int type, int protocol), (family, type, protocol), STATUS;)
WRAP(int, socketpair, (int family, int type, int protocol, int fds[2]),
     (family, type, protocol, fds), STATUS;)
WRAP(int, bind, (int fd, const struct sockaddr* address, socklen_t length), (fd, address, length),
     STATUS;
     NAMES_SOCKET(result == 0); ON_FD(fd);)
WRAP(int, connect, (int fd, const struct sockaddr* address, socklen_t length),
     (fd, address, length), STATUS;
     NAMES_SOCKET(result == 0 || errno == EINPROGRESS); ON_FD(fd);)
WRAP(int, __connect, (int fd, const struct sockaddr* address, socklen_t length),
     (fd, address, length), STATUS;
     NAMES_SOCKET(result == 0 || errno == EINPROGRESS); ON_FD(fd);)
WRAP(int, listen, (int fd, int backlog), (fd, backlog), STATUS; ON_FD(fd);)
WRAP(int, accept, (int fd, struct sockaddr* address, socklen_t* length), (fd, address, length),
     STATUS;
     ON_FD(fd); OPENS(result);)
WRAP(int, accept4, (int fd, struct sockaddr* address, socklen_t* length, int flags),
     (fd, address, length, flags), STATUS;
     ON_FD(fd); OPENS(result);)
WRAP(int, shutdown, (int fd, int how), (fd, how), STATUS; ON_FD(fd);)
WRAP(ssize_t, send, (int fd, const void* from, size_t size, int flags), (fd, from, size, flags),
     BYTES;
     ON_FD(fd);)
WRAP(ssize_t, __send, (int fd, const void* from, size_t size, int flags), (fd, from, size, flags),
     BYTES;
     ON_FD(fd);)
WRAP(ssize_t, sendto,
     (int fd, const void* from, size_t size, int flags, const struct sockaddr* address,
      socklen_t length),
     (fd, from, size, flags, address, length), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, sendmsg, (int fd, const struct msghdr* from, int flags), (fd, from, flags), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, recv, (int fd, void* to, size_t size, int flags), (fd, to, size, flags), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, __recv, (int fd, void* to, size_t size, int flags), (fd, to, size, flags), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, __recv_chk, (int fd, void* to, size_t size, size_t room, int flags),
     (fd, to, size, room, flags), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, recvfrom,
     (int fd, void* to, size_t size, int flags, struct sockaddr* address, socklen_t* length),
     (fd, to, size, flags, address, length), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, __recvfrom_chk,
     (int fd, void* to, size_t size, size_t room, int flags, struct sockaddr* address,
      socklen_t* length),
     (fd, to, size, room, flags, address, length), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, recvmsg, (int fd, struct msghdr* to, int flags), (fd, to, flags), BYTES; ON_FD(fd);)
static int64_t message_bytes(const struct mmsghdr* messages, int count) {
  int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += messages[i].msg_len;
  return sum;
}
#define MESSAGES                          \
  MOVED(message_bytes(messages, result)); \
  FAILED_IF(result < 0);                  \
  ON_FD(fd);
WRAP(int, sendmmsg, (int fd, struct mmsghdr* messages, unsigned count, int flags),
     (fd, messages, count, flags), MESSAGES)
WRAP(int, __sendmmsg, (int fd, struct mmsghdr* messages, unsigned count, int flags),
     (fd, messages, count, flags), MESSAGES)
WRAP(int, recvmmsg,
     (int fd, struct mmsghdr* messages, unsigned count, int flags, struct timespec* limit),
     (fd, messages, count, flags, limit), MESSAGES)

WRAP(int, poll, (struct pollfd * fds, nfds_t count, int limit_ms), (fds, count, limit_ms), STATUS;)
WRAP(int, __poll, (struct pollfd * fds, nfds_t count, int limit_ms), (fds, count, limit_ms),
     STATUS;)
WRAP(int, __poll_chk, (struct pollfd * fds, nfds_t count, int limit_ms, size_t room),
     (fds, count, limit_ms, room), STATUS;)
WRAP(int, ppoll,
     (struct pollfd * fds, nfds_t count, const struct timespec* limit, const sigset_t* mask),
     (fds, count, limit, mask), STATUS;)
WRAP(int, __ppoll_chk,
     (struct pollfd * fds, nfds_t count, const struct timespec* limit, const sigset_t* mask,
      size_t room),
     (fds, count, limit, mask, room), STATUS;)
WRAP(int, select, (int count, fd_set* in, fd_set* out, fd_set* other, struct timeval* limit),
     (count, in, out, other, limit), STATUS;)
WRAP(int, __select, (int count, fd_set* in, fd_set* out, fd_set* other, struct timeval* limit),
     (count, in, out, other, limit), STATUS;)
WRAP(int, pselect,
     (int count, fd_set* in, fd_set* out, fd_set* other, const struct timespec* limit,
      const sigset_t* mask),
     (count, in, out, other, limit, mask), STATUS;)
WRAP(int, epoll_wait, (int fd, struct epoll_event* to, int room, int limit_ms),
     (fd, to, room, limit_ms), STATUS;)
WRAP(int, epoll_pwait,
     (int fd, struct epoll_event* to, int room, int limit_ms, const sigset_t* mask),
     (fd, to, room, limit_ms, mask), STATUS;)
WRAP(int, epoll_pwait2,
     (int fd, struct epoll_event* to, int room, const struct timespec* limit, const sigset_t* mask),
     (fd, to, room, limit, mask), STATUS;)
WRAP(int, eventfd_read, (int fd, eventfd_t* to), (fd, to), STATUS; ON_FD(fd);)
WRAP(int, eventfd_write, (int fd, eventfd_t value), (fd, value), STATUS; ON_FD(fd);)
