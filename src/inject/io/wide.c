/* SPDX-License-Identifier: Apache-2.0
 * stdio: wide characters. How many bytes they are in the file nobody says, so none are counted. */
/* The headers make of these their newer siblings, which are other functions. */
#define wscanf unused_wscanf
#define fwscanf unused_fwscanf
#define vwscanf unused_vwscanf
#define vfwscanf unused_vfwscanf
#include <stdarg.h>
#include <wchar.h>

#include "inject/io/wrap.h"
#undef wscanf
#undef fwscanf
#undef vwscanf
#undef vfwscanf

#undef getwc
#undef putwc
#undef getwchar
#undef putwchar

/* clang-format off: a line each */
#define READ_WIDE                                                  \
  if (result == WEOF && stream_failed(stream)) FAILED_WITH(errno); \
  ON_STREAM(stream);
#define READ_WIDE_OF_INPUT \
  FILE* stream = stdin;    \
  READ_WIDE
WRAP(wint_t, fgetwc, (FILE * stream), (stream), READ_WIDE)
WRAP(wint_t, fgetwc_unlocked, (FILE * stream), (stream), READ_WIDE)
WRAP(wint_t, getwc, (FILE * stream), (stream), READ_WIDE)
WRAP(wint_t, getwc_unlocked, (FILE * stream), (stream), READ_WIDE)
WRAP(wint_t, getwchar, (void), (), READ_WIDE_OF_INPUT)
WRAP(wint_t, getwchar_unlocked, (void), (), READ_WIDE_OF_INPUT)
#define WRITTEN_WIDE         \
  FAILED_IF(result == WEOF); \
  ON_STREAM(stream);
#define WRITTEN_WIDE_OF_OUTPUT \
  FILE* stream = stdout;       \
  WRITTEN_WIDE
WRAP(wint_t, fputwc, (wchar_t c, FILE* stream), (c, stream), WRITTEN_WIDE)
WRAP(wint_t, fputwc_unlocked, (wchar_t c, FILE* stream), (c, stream), WRITTEN_WIDE)
WRAP(wint_t, putwc, (wchar_t c, FILE* stream), (c, stream), WRITTEN_WIDE)
WRAP(wint_t, putwc_unlocked, (wchar_t c, FILE* stream), (c, stream), WRITTEN_WIDE)
WRAP(wint_t, putwchar, (wchar_t c), (c), WRITTEN_WIDE_OF_OUTPUT)
WRAP(wint_t, putwchar_unlocked, (wchar_t c), (c), WRITTEN_WIDE_OF_OUTPUT)
#define READ_WIDE_LINE                                             \
  if (result == NULL && stream_failed(stream)) FAILED_WITH(errno); \
  ON_STREAM(stream);
WRAP(wchar_t*, fgetws, (wchar_t * to, int size, FILE* stream), (to, size, stream), READ_WIDE_LINE)
WRAP(wchar_t*, fgetws_unlocked, (wchar_t * to, int size, FILE* stream), (to, size, stream),
     READ_WIDE_LINE)
WRAP(wchar_t*, __fgetws_chk, (wchar_t * to, size_t room, int size, FILE* stream),
     (to, room, size, stream), READ_WIDE_LINE)
WRAP(wchar_t*, __fgetws_unlocked_chk, (wchar_t * to, size_t room, int size, FILE* stream),
     (to, room, size, stream), READ_WIDE_LINE)
WRAP(int, fputws, (const wchar_t* text, FILE* stream), (text, stream), STATUS; ON_STREAM(stream);)
WRAP(int, fputws_unlocked, (const wchar_t* text, FILE* stream), (text, stream), STATUS;
     ON_STREAM(stream);)
WRAP(int, vfwprintf, (FILE * stream, const wchar_t* form, va_list list), (stream, form, list),
     STATUS;
     ON_STREAM(stream);)
WRAP(int, vwprintf, (const wchar_t* form, va_list list), (form, list), STATUS; ON_STREAM(stdout);)
WRAP(int, __vfwprintf_chk, (FILE * stream, int flag, const wchar_t* form, va_list list),
     (stream, flag, form, list), STATUS;
     ON_STREAM(stream);)
WRAP(int, __vwprintf_chk, (int flag, const wchar_t* form, va_list list), (flag, form, list), STATUS;
     ON_STREAM(stdout);)
WRAP_LIST(fwprintf, vfwprintf, (FILE * stream, const wchar_t* form, ...), form,
          (FILE*, const wchar_t*, va_list), (stream, form, list), STATUS;
          ON_STREAM(stream);)
WRAP_LIST(wprintf, vwprintf, (const wchar_t* form, ...), form, (const wchar_t*, va_list),
          (form, list), STATUS;
          ON_STREAM(stdout);)
WRAP_LIST(__fwprintf_chk, __vfwprintf_chk, (FILE * stream, int flag, const wchar_t* form, ...),
          form, (FILE*, int, const wchar_t*, va_list), (stream, flag, form, list), STATUS;
          ON_STREAM(stream);)
WRAP_LIST(__wprintf_chk, __vwprintf_chk, (int flag, const wchar_t* form, ...), form,
          (int, const wchar_t*, va_list), (flag, form, list), STATUS;
          ON_STREAM(stdout);)
#define SCANNED                                                   \
  if (result == EOF && stream_failed(stream)) FAILED_WITH(errno); \
  ON_STREAM(stream);
#define SCANNED_FROM_INPUT \
  FILE* stream = stdin;    \
  SCANNED
WRAP(int, vfwscanf, (FILE * stream, const wchar_t* form, va_list list), (stream, form, list),
     SCANNED)
WRAP(int, vwscanf, (const wchar_t* form, va_list list), (form, list), SCANNED_FROM_INPUT)
WRAP(int, __isoc99_vfwscanf, (FILE * stream, const wchar_t* form, va_list list),
     (stream, form, list), SCANNED)
WRAP(int, __isoc99_vwscanf, (const wchar_t* form, va_list list), (form, list), SCANNED_FROM_INPUT)
WRAP_LIST(fwscanf, vfwscanf, (FILE * stream, const wchar_t* form, ...), form,
          (FILE*, const wchar_t*, va_list), (stream, form, list), SCANNED)
WRAP_LIST(wscanf, vwscanf, (const wchar_t* form, ...), form, (const wchar_t*, va_list),
          (form, list), SCANNED_FROM_INPUT)
WRAP_LIST(__isoc99_fwscanf, __isoc99_vfwscanf, (FILE * stream, const wchar_t* form, ...), form,
          (FILE*, const wchar_t*, va_list), (stream, form, list), SCANNED)
WRAP_LIST(__isoc99_wscanf, __isoc99_vwscanf, (const wchar_t* form, ...), form,
          (const wchar_t*, va_list), (form, list), SCANNED_FROM_INPUT)
