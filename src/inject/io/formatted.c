/* SPDX-License-Identifier: Apache-2.0
 * stdio: formatted output and input. What has a variable number of arguments goes on through its
 * sibling that takes them as a list. */
/* The headers make of these their newer siblings, which are other functions. */
#define scanf unused_scanf
#define fscanf unused_fscanf
#define vscanf unused_vscanf
#define vfscanf unused_vfscanf
#include <stdarg.h>
#include <stdlib.h>

#include "inject/io/wrap.h"
#undef scanf
#undef fscanf
#undef vscanf
#undef vfscanf

/* clang-format off: a line each */
#define PRINTED \
  BYTES;        \
  ON_STREAM(stream);
#define PRINTED_TO_OUTPUT \
  BYTES;                  \
  ON_STREAM(stdout);
WRAP(int, vfprintf, (FILE * stream, const char* form, va_list list), (stream, form, list), PRINTED)
WRAP(int, vprintf, (const char* form, va_list list), (form, list), PRINTED_TO_OUTPUT)
WRAP(int, vdprintf, (int fd, const char* form, va_list list), (fd, form, list), BYTES; ON_FD(fd);)
WRAP(int, __vfprintf_chk, (FILE * stream, int flag, const char* form, va_list list),
     (stream, flag, form, list), PRINTED)
WRAP(int, __vprintf_chk, (int flag, const char* form, va_list list), (flag, form, list),
     PRINTED_TO_OUTPUT)
WRAP(int, __vdprintf_chk, (int fd, int flag, const char* form, va_list list),
     (fd, flag, form, list), BYTES;
     ON_FD(fd);)

#define SCANNED                                                   \
  if (result == EOF && stream_failed(stream)) FAILED_WITH(errno); \
  ON_STREAM(stream);
#define SCANNED_FROM_INPUT \
  FILE* stream = stdin;    \
  SCANNED
WRAP(int, vfscanf, (FILE * stream, const char* form, va_list list), (stream, form, list), SCANNED)
WRAP(int, vscanf, (const char* form, va_list list), (form, list), SCANNED_FROM_INPUT)
WRAP(int, __isoc99_vfscanf, (FILE * stream, const char* form, va_list list), (stream, form, list),
     SCANNED)
WRAP(int, __isoc99_vscanf, (const char* form, va_list list), (form, list), SCANNED_FROM_INPUT)

WRAP_LIST(fprintf, vfprintf, (FILE * stream, const char* form, ...), form,
          (FILE*, const char*, va_list), (stream, form, list), PRINTED)
WRAP_LIST(printf, vprintf, (const char* form, ...), form, (const char*, va_list), (form, list),
          PRINTED_TO_OUTPUT)
WRAP_LIST(dprintf, vdprintf, (int fd, const char* form, ...), form, (int, const char*, va_list),
          (fd, form, list), BYTES;
          ON_FD(fd);)
WRAP_LIST(__fprintf_chk, __vfprintf_chk, (FILE * stream, int flag, const char* form, ...), form,
          (FILE*, int, const char*, va_list), (stream, flag, form, list), PRINTED)
WRAP_LIST(__printf_chk, __vprintf_chk, (int flag, const char* form, ...), form,
          (int, const char*, va_list), (flag, form, list), PRINTED_TO_OUTPUT)
WRAP_LIST(__dprintf_chk, __vdprintf_chk, (int fd, int flag, const char* form, ...), form,
          (int, int, const char*, va_list), (fd, flag, form, list), BYTES;
          ON_FD(fd);)
WRAP_LIST(fscanf, vfscanf, (FILE * stream, const char* form, ...), form,
          (FILE*, const char*, va_list), (stream, form, list), SCANNED)
WRAP_LIST(scanf, vscanf, (const char* form, ...), form, (const char*, va_list), (form, list),
          SCANNED_FROM_INPUT)
WRAP_LIST(__isoc99_fscanf, __isoc99_vfscanf, (FILE * stream, const char* form, ...), form,
          (FILE*, const char*, va_list), (stream, form, list), SCANNED)
WRAP_LIST(__isoc99_scanf, __isoc99_vscanf, (const char* form, ...), form, (const char*, va_list),
          (form, list), SCANNED_FROM_INPUT)
