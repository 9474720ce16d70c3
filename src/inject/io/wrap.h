/* SPDX-License-Identifier: Apache-2.0
 * A wrapper is one line: WRAP(type, function, (parameters), (arguments), what it means). The last
 * part are statements that fill in `outcome` from `result`; those below are usual. */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "inject/core/files.h"
#include "inject/core/short_call.h"

#define END_CALL(function) \
  call_end(&call, &site_##function, outcome.file, outcome.value, outcome.flags, outcome.error)
#define REAL(type, function, parameters) ((type(*) parameters)site_##function.real)

/* Values, and not the outcome's address: it is in no memory then, which would cost as much. */
static inline __attribute__((always_inline)) void end_counted(uint64_t epoch,
                                                              const struct CallSite* site,
                                                              const struct Outcome* outcome) {
  if (unlikely(outcome->flags & kCallFailed) ||
      unlikely(!count_end(epoch, site, outcome->file, outcome->value, outcome->flags)))
    call_end_counted(epoch, site, outcome->file, outcome->value, outcome->flags, outcome->error);
}

/* Two functions, of which each keeps no more than it needs: one where calls are only counted, which
 * otherwise jumps to the other. It must be a jump, or an exception would be told of twice. */
#define WRAP(type, function, parameters, arguments, ...)                                   \
  CALL_SITE(function);                                                                     \
  static __attribute__((noinline)) type timed_##function parameters {                      \
    struct Call call;                                                                      \
    if (unlikely(!call_begin(&call, &site_##function)))                                    \
      return REAL(type, function, parameters) arguments;                                   \
    type result = REAL(type, function, parameters) arguments;                              \
    call_stop(&call);                                                                      \
    struct Outcome outcome = {0};                                                          \
    __VA_ARGS__                                                                            \
    END_CALL(function);                                                                    \
    return result;                                                                         \
  }                                                                                        \
  FATHOM_EXPORT type function parameters {                                                 \
    uint64_t epoch;                                                                        \
    if (likely(!count_begin(&epoch, &site_##function))) return timed_##function arguments; \
    TELL_UNWINDING();                                                                      \
    type result = REAL(type, function, parameters) arguments;                              \
    struct Outcome outcome = {0};                                                          \
    __VA_ARGS__                                                                            \
    end_counted(epoch, &site_##function, &outcome);                                        \
    return result;                                                                         \
  }

/* The same for a function that returns nothing. */
#define WRAP_VOID(function, parameters, arguments, ...)        \
  CALL_SITE(function);                                         \
  FATHOM_EXPORT void function parameters {                     \
    struct Call call;                                          \
    const bool recorded = call_begin(&call, &site_##function); \
    REAL(void, function, parameters) arguments;                \
    if (!recorded) return;                                     \
    call_stop(&call);                                          \
    struct Outcome outcome = {0};                              \
    __VA_ARGS__                                                \
    END_CALL(function);                                        \
  }

/* WRAP_LIST(function, sibling, (parameters with ...), last, (real parameters), (arguments), …). */
#define WRAP_LIST(function, sibling, parameters, last, real, arguments, ...) \
  CALL_SITE(function);                                                       \
  FATHOM_EXPORT int function parameters {                                    \
    struct Call call;                                                        \
    const bool recorded = call_begin(&call, &site_##function);               \
    va_list list;                                                            \
    va_start(list, last);                                                    \
    const int result = REAL(int, sibling, real) arguments;                   \
    va_end(list);                                                            \
    if (unlikely(!recorded)) return result;                                  \
    call_stop(&call);                                                        \
    struct Outcome outcome = {0};                                            \
    __VA_ARGS__                                                              \
    END_CALL(function);                                                      \
    return result;                                                           \
  }

#define FAILED_WITH(number) (outcome.flags |= kCallFailed, outcome.error = (number))
#define FAILED_IF(condition)                     \
  do {                                           \
    if (unlikely(condition)) FAILED_WITH(errno); \
  } while (0)
/* Moved this many bytes, unless it failed. */
#define MOVED(bytes) (outcome.flags |= kCallHasBytes, outcome.value = (int64_t)(bytes))

#define STATUS /* a negative result is a failure */ \
  outcome.value = (int64_t)result;                  \
  FAILED_IF(result < 0)
#define BYTES /* so it is here, and others are sizes */ \
  MOVED(result);                                        \
  FAILED_IF(result < 0)
#define POINTER FAILED_IF(result == NULL)
#define ERROR_NUMBER /* returned instead of errno */ \
  if (result != 0) FAILED_WITH((int32_t)result)

#define ON_FD(fd) outcome.file = file_of_fd(fd)
#define ON_STREAM(stream) outcome.file = file_of_stream(stream)
#define ON_PATH(path) ON_PATH_AT(AT_FDCWD, path)
#define ON_PATH_AT(directory, path) \
  outcome.file = file_of_path(directory, path, (outcome.flags & kCallFailed) != 0)
/* `fd` now is the outcome's file. */
#define OPENS(fd)                              \
  do {                                         \
    if ((fd) >= 0) set_file(fd, outcome.file); \
  } while (0)

static inline uint32_t file_of_stream(FILE* stream) { return file_of_fd(stream->_fileno); }
static inline bool stream_failed(FILE* stream) { return (stream->_flags & 0x20) != 0; }
