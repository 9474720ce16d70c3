/* SPDX-License-Identifier: Apache-2.0
 * Opening, closing and copying descriptors. */
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include "inject/io/wrap.h"

/* The mode is there only if a file may be made, or so it is read like any other argument. */
#define MODE_AFTER(last)                    \
  va_list more;                             \
  va_start(more, last);                     \
  const mode_t mode = va_arg(more, mode_t); \
  va_end(more)

#define WRAP_OPEN(function)                                                             \
  CALL_SITE(function);                                                                  \
  FATHOM_EXPORT int function(const char* path, int flags, ...) {                        \
    MODE_AFTER(flags);                                                                  \
    struct Call call;                                                                   \
    if (unlikely(!call_begin(&call, &site_##function)))                                 \
      return REAL(int, function, (const char*, int, ...))(path, flags, mode);           \
    const int result = REAL(int, function, (const char*, int, ...))(path, flags, mode); \
    call_stop(&call);                                                                   \
    struct Outcome outcome = {0};                                                       \
    STATUS;                                                                             \
    ON_PATH(path);                                                                      \
    OPENS(result);                                                                      \
    END_CALL(function);                                                                 \
    return result;                                                                      \
  }
WRAP_OPEN(open)
WRAP_OPEN(open64)
WRAP_OPEN(__open)
WRAP_OPEN(__open64)

#define WRAP_OPENAT(function)                                                                 \
  CALL_SITE(function);                                                                        \
  FATHOM_EXPORT int function(int directory, const char* path, int flags, ...) {               \
    MODE_AFTER(flags);                                                                        \
    struct Call call;                                                                         \
    if (unlikely(!call_begin(&call, &site_##function)))                                       \
      return REAL(int, function, (int, const char*, int, ...))(directory, path, flags, mode); \
    const int result =                                                                        \
        REAL(int, function, (int, const char*, int, ...))(directory, path, flags, mode);      \
    call_stop(&call);                                                                         \
    struct Outcome outcome = {0};                                                             \
    STATUS;                                                                                   \
    ON_PATH_AT(directory, path);                                                              \
    OPENS(result);                                                                            \
    END_CALL(function);                                                                       \
    return result;                                                                            \
  }
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)

WRAP(int, __open_2, (const char* path, int flags), (path, flags), STATUS; ON_PATH(path);
     OPENS(result);)
WRAP(int, __open64_2, (const char* path, int flags), (path, flags), STATUS; ON_PATH(path);
     OPENS(result);)
WRAP(int, __openat_2, (int at, const char* path, int flags), (at, path, flags), STATUS;
     ON_PATH_AT(at, path); OPENS(result);)
WRAP(int, __openat64_2, (int at, const char* path, int flags), (at, path, flags), STATUS;
     ON_PATH_AT(at, path); OPENS(result);)
WRAP(int, creat, (const char* path, mode_t mode), (path, mode), STATUS; ON_PATH(path);
     OPENS(result);)
WRAP(int, creat64, (const char* path, mode_t mode), (path, mode), STATUS; ON_PATH(path);
     OPENS(result);)
WRAP(int, mkstemp, (char* path), (path), STATUS; ON_PATH(path); OPENS(result);)
WRAP(int, mkstemp64, (char* path), (path), STATUS; ON_PATH(path); OPENS(result);)
WRAP(int, mkostemp, (char* path, int flags), (path, flags), STATUS; ON_PATH(path); OPENS(result);)
WRAP(int, mkostemp64, (char* path, int flags), (path, flags), STATUS; ON_PATH(path); OPENS(result);)
WRAP(int, mkstemps, (char* path, int suffix), (path, suffix), STATUS; ON_PATH(path); OPENS(result);)
WRAP(int, mkstemps64, (char* path, int suffix), (path, suffix), STATUS; ON_PATH(path);
     OPENS(result);)
WRAP(int, mkostemps, (char* path, int suffix, int flags), (path, suffix, flags), STATUS;
     ON_PATH(path); OPENS(result);)
WRAP(int, mkostemps64, (char* path, int suffix, int flags), (path, suffix, flags), STATUS;
     ON_PATH(path); OPENS(result);)
WRAP(int, shm_open, (const char* name, int flags, mode_t mode), (name, flags, mode), STATUS;
     if (result >= 0) ON_FD(result);)
WRAP(int, memfd_create, (const char* name, unsigned flags), (name, flags), STATUS;
     if (result >= 0) ON_FD(result);)
WRAP(int, open_by_handle_at, (int mount, struct file_handle* handle, int flags),
     (mount, handle, flags), STATUS;
     if (result >= 0) ON_FD(result);)
WRAP(int, pipe, (int fds[2]), (fds), STATUS;)
WRAP(int, __pipe, (int fds[2]), (fds), STATUS;)
WRAP(int, pipe2, (int fds[2], int flags), (fds, flags), STATUS;)

/* The number may be given out again before the real function has returned. */
#define WRAP_CLOSE(function)                                   \
  CALL_SITE(function);                                         \
  FATHOM_EXPORT int function(int fd) {                         \
    struct Call call;                                          \
    const bool recorded = call_begin(&call, &site_##function); \
    struct Outcome outcome = {.file = forget_file(fd)};        \
    const int result = REAL(int, function, (int))(fd);         \
    if (unlikely(!recorded)) return result;                    \
    call_stop(&call);                                          \
    STATUS;                                                    \
    END_CALL(function);                                        \
    return result;                                             \
  }
WRAP_CLOSE(close)
WRAP_CLOSE(__close)

CALL_SITE(close_range);
FATHOM_EXPORT int close_range(unsigned first, unsigned last, int flags) {
  struct Call call;
  const bool recorded = call_begin(&call, &site_close_range);
  forget_files(first, last); /* those that stay open are asked for again */
  const int result = REAL(int, close_range, (unsigned, unsigned, int))(first, last, flags);
  if (unlikely(!recorded)) return result;
  call_stop(&call);
  struct Outcome outcome = {0};
  STATUS;
  END_CALL(close_range);
  return result;
}

CALL_SITE(closefrom);
FATHOM_EXPORT void closefrom(int first) {
  struct Call call;
  const bool recorded = call_begin(&call, &site_closefrom);
  forget_files(first < 0 ? 0 : (unsigned)first, UINT32_MAX);
  REAL(void, closefrom, (int))(first);
  if (!recorded) return;
  call_stop(&call);
  struct Outcome outcome = {0};
  END_CALL(closefrom);
}

WRAP(int, dup, (int fd), (fd), STATUS; ON_FD(fd); OPENS(result);)
WRAP(int, dup2, (int fd, int to), (fd, to), STATUS; ON_FD(fd); OPENS(result);)
WRAP(int, __dup2, (int fd, int to), (fd, to), STATUS; ON_FD(fd); OPENS(result);)
WRAP(int, dup3, (int fd, int to, int flags), (fd, to, flags), STATUS; ON_FD(fd); OPENS(result);)

/* The argument is a number or a pointer, or not there: as large as either. */
#define WRAP_CONTROL(function, type, after)                                          \
  CALL_SITE(function);                                                               \
  FATHOM_EXPORT int function(int fd, type request, ...) {                            \
    va_list more;                                                                    \
    va_start(more, request);                                                         \
    void* argument = va_arg(more, void*);                                            \
    va_end(more);                                                                    \
    struct Call call;                                                                \
    if (unlikely(!call_begin(&call, &site_##function)))                              \
      return REAL(int, function, (int, type, ...))(fd, request, argument);           \
    const int result = REAL(int, function, (int, type, ...))(fd, request, argument); \
    call_stop(&call);                                                                \
    struct Outcome outcome = {0};                                                    \
    STATUS;                                                                          \
    ON_FD(fd);                                                                       \
    after;                                                                           \
    END_CALL(function);                                                              \
    return result;                                                                   \
  }
#define OPENS_COPY \
  if (request == F_DUPFD || request == F_DUPFD_CLOEXEC) OPENS(result)
WRAP_CONTROL(fcntl, int, OPENS_COPY)
WRAP_CONTROL(fcntl64, int, OPENS_COPY)
WRAP_CONTROL(__fcntl, int, OPENS_COPY)
WRAP_CONTROL(ioctl, unsigned long, )
