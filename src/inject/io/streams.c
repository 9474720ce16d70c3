/* SPDX-License-Identifier: Apache-2.0
 * stdio: opening and closing streams, blocks, lines and characters. Bytes are those that went
 * between the program and the stream. */
#include <stdlib.h>
#include <wchar.h>

#include "inject/io/wrap.h"

#undef fread_unlocked
#undef fwrite_unlocked
#undef getc
#undef putc
#undef getchar
#undef putchar
#undef getc_unlocked
#undef putc_unlocked
#undef fgetc_unlocked
#undef fputc_unlocked
#undef getchar_unlocked
#undef putchar_unlocked

/* The end of a file is no failure. */
#define FAILED_STREAM(stream) FAILED_IF(stream_failed(stream))
#define STREAM_STATUS \
  STATUS;             \
  ON_STREAM(stream);

/* clang-format off: a line each */
#define OPENS_STREAM \
  POINTER;           \
  ON_PATH(path);     \
  if (result) OPENS(result->_fileno);
WRAP(FILE*, fopen, (const char* path, const char* mode), (path, mode), OPENS_STREAM)
WRAP(FILE*, fopen64, (const char* path, const char* mode), (path, mode), OPENS_STREAM)
WRAP(FILE*, fdopen, (int fd, const char* mode), (fd, mode), POINTER; ON_FD(fd);)
WRAP(FILE*, tmpfile, (void), (), POINTER; if (result) ON_STREAM(result);)
WRAP(FILE*, tmpfile64, (void), (), POINTER; if (result) ON_STREAM(result);)
WRAP(FILE*, popen, (const char* command, const char* mode), (command, mode), POINTER;
     if (result) ON_STREAM(result);)
#define REOPENS                         \
  POINTER;                              \
  if (path) {                           \
    ON_PATH(path);                      \
    if (result) OPENS(result->_fileno); \
  }
WRAP(FILE*, freopen, (const char* path, const char* mode, FILE* stream), (path, mode, stream),
     REOPENS)
WRAP(FILE*, freopen64, (const char* path, const char* mode, FILE* stream), (path, mode, stream),
     REOPENS)
WRAP(int, fcloseall, (void), (), STATUS;)

#define READ_ITEMS                           \
  MOVED(result* size);                       \
  if (result < count) FAILED_STREAM(stream); \
  ON_STREAM(stream);
WRAP(size_t, fread, (void* to, size_t size, size_t count, FILE* stream), (to, size, count, stream),
     READ_ITEMS)
WRAP(size_t, fread_unlocked, (void* to, size_t size, size_t count, FILE* stream),
     (to, size, count, stream), READ_ITEMS)
WRAP(size_t, __fread_chk, (void* to, size_t room, size_t size, size_t count, FILE* stream),
     (to, room, size, count, stream), READ_ITEMS)
WRAP(size_t, __fread_unlocked_chk, (void* to, size_t room, size_t size, size_t count, FILE* stream),
     (to, room, size, count, stream), READ_ITEMS)
#define WRITTEN_ITEMS                        \
  MOVED(result* size);                       \
  if (result < count) FAILED_STREAM(stream); \
  ON_STREAM(stream);
WRAP(size_t, fwrite, (const void* from, size_t size, size_t count, FILE* stream),
     (from, size, count, stream), WRITTEN_ITEMS)
WRAP(size_t, fwrite_unlocked, (const void* from, size_t size, size_t count, FILE* stream),
     (from, size, count, stream), WRITTEN_ITEMS)

#define READ_BYTE                           \
  MOVED(result != EOF);                     \
  if (result == EOF) FAILED_STREAM(stream); \
  ON_STREAM(stream);
#define READ_BYTE_OF_INPUT \
  FILE* stream = stdin;    \
  READ_BYTE
WRAP(int, fgetc, (FILE * stream), (stream), READ_BYTE)
WRAP(int, fgetc_unlocked, (FILE * stream), (stream), READ_BYTE)
WRAP(int, getc, (FILE * stream), (stream), READ_BYTE)
WRAP(int, _IO_getc, (FILE * stream), (stream), READ_BYTE)
WRAP(int, getc_unlocked, (FILE * stream), (stream), READ_BYTE)
WRAP(int, getchar, (void), (), READ_BYTE_OF_INPUT)
WRAP(int, getchar_unlocked, (void), (), READ_BYTE_OF_INPUT)
WRAP(int, getw, (FILE * stream), (stream), if (result == EOF) FAILED_STREAM(stream);
     ON_STREAM(stream);)
#define WRITTEN_BYTE        \
  MOVED(1);                 \
  FAILED_IF(result == EOF); \
  ON_STREAM(stream);
#define WRITTEN_BYTE_OF_OUTPUT \
  FILE* stream = stdout;       \
  WRITTEN_BYTE
WRAP(int, fputc, (int c, FILE* stream), (c, stream), WRITTEN_BYTE)
WRAP(int, fputc_unlocked, (int c, FILE* stream), (c, stream), WRITTEN_BYTE)
WRAP(int, putc, (int c, FILE* stream), (c, stream), WRITTEN_BYTE)
WRAP(int, _IO_putc, (int c, FILE* stream), (c, stream), WRITTEN_BYTE)
WRAP(int, putc_unlocked, (int c, FILE* stream), (c, stream), WRITTEN_BYTE)
WRAP(int, putchar, (int c), (c), WRITTEN_BYTE_OF_OUTPUT)
WRAP(int, putchar_unlocked, (int c), (c), WRITTEN_BYTE_OF_OUTPUT)
WRAP(int, putw, (int word, FILE* stream), (word, stream), MOVED(sizeof word);
     FAILED_IF(result == EOF); ON_STREAM(stream);)

#define READ_LINE          \
  if (result)              \
    MOVED(strlen(result)); \
  else {                   \
    MOVED(0);              \
    FAILED_STREAM(stream); \
  }                        \
  ON_STREAM(stream);
WRAP(char*, fgets, (char* to, int size, FILE* stream), (to, size, stream), READ_LINE)
#define READ_LINE_OF_INPUT \
  FILE* stream = stdin;    \
  READ_LINE
WRAP(char*, gets, (char* to), (to), READ_LINE_OF_INPUT)
WRAP(char*, __gets_chk, (char* to, size_t room), (to, room), READ_LINE_OF_INPUT)
WRAP(char*, fgets_unlocked, (char* to, int size, FILE* stream), (to, size, stream), READ_LINE)
WRAP(char*, __fgets_chk, (char* to, size_t room, int size, FILE* stream), (to, room, size, stream),
     READ_LINE)
WRAP(char*, __fgets_unlocked_chk, (char* to, size_t room, int size, FILE* stream),
     (to, room, size, stream), READ_LINE)
#define READ_PART          \
  if (result >= 0)         \
    MOVED(result);         \
  else {                   \
    MOVED(0);              \
    FAILED_STREAM(stream); \
  }                        \
  ON_STREAM(stream);
WRAP(ssize_t, getline, (char** to, size_t* room, FILE* stream), (to, room, stream), READ_PART)
WRAP(ssize_t, getdelim, (char** to, size_t* room, int end, FILE* stream), (to, room, end, stream),
     READ_PART)
WRAP(ssize_t, __getdelim, (char** to, size_t* room, int end, FILE* stream), (to, room, end, stream),
     READ_PART)
#define WRITTEN_TEXT                       \
  FAILED_IF(result == EOF);                \
  MOVED(result == EOF ? 0 : strlen(text)); \
  ON_STREAM(stream);
WRAP(int, fputs, (const char* text, FILE* stream), (text, stream), WRITTEN_TEXT)
WRAP(int, fputs_unlocked, (const char* text, FILE* stream), (text, stream), WRITTEN_TEXT)
WRAP(int, puts, (const char* text), (text), FAILED_IF(result == EOF);
     MOVED(result == EOF ? 0 : strlen(text) + 1); ON_STREAM(stdout);)
WRAP_VOID(perror, (const char* text), (text), ON_STREAM(stderr);)

WRAP(int, fflush, (FILE * stream), (stream), STATUS; if (stream) ON_STREAM(stream);)
WRAP(int, fflush_unlocked, (FILE * stream), (stream), STATUS; if (stream) ON_STREAM(stream);)
WRAP(int, fseek, (FILE * stream, long at, int from), (stream, at, from), STREAM_STATUS)
WRAP(int, fseeko, (FILE * stream, off_t at, int from), (stream, at, from), STREAM_STATUS)
WRAP(int, fseeko64, (FILE * stream, off64_t at, int from), (stream, at, from), STREAM_STATUS)
WRAP(long, ftell, (FILE * stream), (stream), STREAM_STATUS)
WRAP(off_t, ftello, (FILE * stream), (stream), STREAM_STATUS)
WRAP(off64_t, ftello64, (FILE * stream), (stream), STREAM_STATUS)
WRAP(int, fgetpos, (FILE * stream, fpos_t* to), (stream, to), STREAM_STATUS)
WRAP(int, fgetpos64, (FILE * stream, fpos64_t* to), (stream, to), STREAM_STATUS)
WRAP(int, fsetpos, (FILE * stream, const fpos_t* to), (stream, to), STREAM_STATUS)
WRAP(int, fsetpos64, (FILE * stream, const fpos64_t* to), (stream, to), STREAM_STATUS)
WRAP_VOID(rewind, (FILE * stream), (stream), ON_STREAM(stream);)
/* clang-format on */

/* The stream is gone when they return. */
#define WRAP_CLOSE(function)                                         \
  CALL_SITE(function);                                               \
  FATHOM_EXPORT int function(FILE* stream) {                         \
    struct Call call;                                                \
    const bool recorded = call_begin(&call, &site_##function);       \
    struct Outcome outcome = {.file = forget_file(stream->_fileno)}; \
    const int result = REAL(int, function, (FILE*))(stream);         \
    if (unlikely(!recorded)) return result;                          \
    call_stop(&call);                                                \
    STATUS;                                                          \
    END_CALL(function);                                              \
    return result;                                                   \
  }
WRAP_CLOSE(fclose)
WRAP_CLOSE(pclose)
