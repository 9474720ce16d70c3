/* SPDX-License-Identifier: Apache-2.0
 * Counts what a workload asks of the C library, in a file that survives whatever becomes of it and
 * that its children share: ./tally, or what $IO_TALLY names. Works in signal handlers and between
 * vfork and exec. It goes round the C library itself, so that nothing of it is recorded.
 *
 *   CALL(BYTES, write, main, fd, block, 13)   calls write(fd, block, 13) on the file `main`
 *
 * The file: 8,192 bytes of names (functions on the first line, files on the second), then four
 * numbers for each function and file: count, bytes, errors, and how many calls more there may be,
 * because they were jumped out of and nobody knows how far they had come. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* It lays these out otherwise each time: */
/* clang-format off */
#define TALLY_FUNCTIONS(X)                                                                         \
  X(open) X(close) X(closefrom) X(close_range) X(read) X(write) X(pread) X(lseek) X(fsync) X(dup2) \
  X(pipe) X(stat) X(mmap) X(munmap) X(nftw) X(chroot) X(fopen) X(fputs) X(fclose)
#define TALLY_FILES(X) X(none) X(main) X(child) X(handler) X(thread) X(library) X(folder) X(pipe)
/* clang-format on */

#define TALLY_FUNCTION(name) kCall_##name,
#define TALLY_FILE(name) kFile_##name,
enum { TALLY_FUNCTIONS(TALLY_FUNCTION) kTallyFunctions };
enum { TALLY_FILES(TALLY_FILE) kTallyFiles };
enum { kTallyNames = 8192 };

struct TallyRow {
  uint64_t count, bytes, errors, maybe;
};
static struct TallyRow (*tally)[kTallyFiles];
/* In a child forked in a handler, which goes on where its parent was. A call belongs to the process
 * that began it, and which did is not known here: what is done to no file or `main` is the
 * parent's. */
static volatile int tally_forked;
static volatile int tally_busy; /* no time to fork */

static inline void tally_open(void) {
  if (tally != NULL) return;
#define TALLY_NAME(name) #name " "
  static const char names[] = TALLY_FUNCTIONS(TALLY_NAME) "\n" TALLY_FILES(TALLY_NAME) "\n";
  const size_t bytes = kTallyNames + sizeof(struct TallyRow[kTallyFunctions][kTallyFiles]);
  const char* path = getenv("IO_TALLY");
  const long fd =
      syscall(SYS_openat, AT_FDCWD, path != NULL ? path : "tally", O_RDWR | O_CREAT, 0666);
  if (fd < 0 || syscall(SYS_ftruncate, fd, bytes) != 0) syscall(SYS_exit_group, 90);
  char* at = (char*)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) syscall(SYS_exit_group, 91);
  syscall(SYS_close, fd);
  memcpy(at, names, sizeof names);
  tally = (struct TallyRow(*)[kTallyFiles])(void*)(at + kTallyNames);
}

static inline void tally_add(int function, int file, uint64_t bytes, bool failed) {
  struct TallyRow* row = &tally[function][file];
  __atomic_fetch_add(&row->count, 1, __ATOMIC_RELAXED);
  if (failed) __atomic_fetch_add(&row->errors, 1, __ATOMIC_RELAXED);
  if (!failed) __atomic_fetch_add(&row->bytes, bytes, __ATOMIC_RELAXED);
}

/* What a call that has ended means, from its result. */
#define BYTES_OF(result) ((uint64_t)(result))
#define STATUS_OF(result) 0
#define POINTER_OF(result) 0
#define BYTES_FAILED(result) ((long)(result) < 0)
#define STATUS_FAILED(result) ((long)(result) < 0)
#define POINTER_FAILED(result) ((long)(result) == 0 || (long)(result) == -1)

#define CALL(kind, function, file, ...)                                                      \
  ({                                                                                         \
    __typeof__(function(__VA_ARGS__)) result_ = function(__VA_ARGS__);                       \
    const int kept_ = errno, was_busy_ = tally_busy;                                         \
    tally_busy = 1;                                                                          \
    if (!tally_forked || kFile_##file > kFile_main)                                          \
      tally_add(kCall_##function, kFile_##file, kind##_OF(result_), kind##_FAILED(result_)); \
    tally_busy = was_busy_;                                                                  \
    errno = kept_;                                                                           \
    result_;                                                                                 \
  })

/* The same where a handler may jump out of it. */
#define CALL_MAYBE(kind, function, file, ...)                                              \
  ({                                                                                       \
    __atomic_fetch_add(&tally[kCall_##function][kFile_##file].maybe, 1, __ATOMIC_RELAXED); \
    __typeof__(function(__VA_ARGS__)) got_ = CALL(kind, function, file, __VA_ARGS__);      \
    __atomic_fetch_sub(&tally[kCall_##function][kFile_##file].maybe, 1, __ATOMIC_RELAXED); \
    got_;                                                                                  \
  })

/* A call that was jumped out of while it waited: it counts as an error, of no file. */
static inline void tally_jumped(int function) { tally_add(function, kFile_none, 0, true); }

static char tally_block[4099];

/* Opens the file, writes `writes` times, and closes it. */
#define WRITE_SOME(file, name, writes)                                                         \
  do {                                                                                         \
    const int fd_ = CALL(STATUS, open, file, name, O_WRONLY | O_CREAT | O_APPEND, 0666);       \
    for (int i_ = 0; i_ < (writes); ++i_) CALL(BYTES, write, file, fd_, tally_block, 13 + i_); \
    CALL(STATUS, close, file, fd_);                                                            \
  } while (0)
