/* SPDX-License-Identifier: Apache-2.0
 * Directories, and the one a process is in. */
#include <dirent.h>
#include <fts.h>
#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

#include "inject/io/wrap.h"

/* clang-format off: a line each */
WRAP(DIR*, opendir, (const char* path), (path), POINTER; ON_PATH(path);
     if (result) OPENS(dirfd(result));)
WRAP(DIR*, fdopendir, (int fd), (fd), POINTER; ON_FD(fd);)
WRAP_VOID(rewinddir, (DIR * directory), (directory), ON_FD(dirfd(directory));)
WRAP_VOID(seekdir, (DIR * directory, long at), (directory, at), ON_FD(dirfd(directory));)
WRAP(long, telldir, (DIR * directory), (directory), STATUS; ON_FD(dirfd(directory));)
WRAP(int, readdir_r, (DIR * directory, struct dirent* entry, struct dirent** to),
     (directory, entry, to), ERROR_NUMBER;
     ON_FD(dirfd(directory));)
WRAP(int, readdir64_r, (DIR * directory, struct dirent64* entry, struct dirent64** to),
     (directory, entry, to), ERROR_NUMBER;
     ON_FD(dirfd(directory));)
WRAP(ssize_t, getdents64, (int fd, void* to, size_t size), (fd, to, size), BYTES; ON_FD(fd);)
WRAP(ssize_t, getdirentries, (int fd, char* to, size_t size, off_t* at), (fd, to, size, at), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, getdirentries64, (int fd, char* to, size_t size, off64_t* at), (fd, to, size, at),
     BYTES;
     ON_FD(fd);)
WRAP(int, scandir,
     (const char* path, struct dirent*** to, int (*choose)(const struct dirent*),
      int (*compare)(const struct dirent**, const struct dirent**)),
     (path, to, choose, compare), STATUS;
     ON_PATH(path);)
WRAP(int, scandir64,
     (const char* path, struct dirent64*** to, int (*choose)(const struct dirent64*),
      int (*compare)(const struct dirent64**, const struct dirent64**)),
     (path, to, choose, compare), STATUS;
     ON_PATH(path);)
WRAP(int, scandirat,
     (int at, const char* path, struct dirent*** to, int (*choose)(const struct dirent*),
      int (*compare)(const struct dirent**, const struct dirent**)),
     (at, path, to, choose, compare), STATUS;
     ON_PATH_AT(at, path);)
WRAP(int, scandirat64,
     (int at, const char* path, struct dirent64*** to, int (*choose)(const struct dirent64*),
      int (*compare)(const struct dirent64**, const struct dirent64**)),
     (at, path, to, choose, compare), STATUS;
     ON_PATH_AT(at, path);)
WRAP(int, ftw, (const char* path, __ftw_func_t each, int fds), (path, each, fds), STATUS;
     ON_PATH(path);)
WRAP(int, ftw64, (const char* path, __ftw64_func_t each, int fds), (path, each, fds), STATUS;
     ON_PATH(path);)
WRAP(int, nftw, (const char* path, __nftw_func_t each, int fds, int flags),
     (path, each, fds, flags), STATUS;
     ON_PATH(path);)
WRAP(int, nftw64, (const char* path, __nftw64_func_t each, int fds, int flags),
     (path, each, fds, flags), STATUS;
     ON_PATH(path);)
WRAP(FTS*, fts_open,
     (char* const* paths, int options, int (*compare)(const FTSENT**, const FTSENT**)),
     (paths, options, compare), POINTER;)
WRAP(FTSENT*, fts_read, (FTS * walk), (walk), if (result == NULL && errno != 0) FAILED_WITH(errno);)
WRAP(FTSENT*, fts_children, (FTS * walk, int options), (walk, options),
     if (result == NULL && errno != 0) FAILED_WITH(errno);)
WRAP(int, fts_close, (FTS * walk), (walk), STATUS;)
WRAP(FTS64*, fts64_open,
     (char* const* paths, int options, int (*compare)(const FTSENT64**, const FTSENT64**)),
     (paths, options, compare), POINTER;)
WRAP(FTSENT64*, fts64_read, (FTS64 * walk), (walk),
     if (result == NULL && errno != 0) FAILED_WITH(errno);)
WRAP(FTSENT64*, fts64_children, (FTS64 * walk, int options), (walk, options),
     if (result == NULL && errno != 0) FAILED_WITH(errno);)
WRAP(int, fts64_close, (FTS64 * walk), (walk), STATUS;)
WRAP(int, mkdir, (const char* path, mode_t mode), (path, mode), STATUS; ON_PATH(path);)
WRAP(int, mkdirat, (int at, const char* path, mode_t mode), (at, path, mode), STATUS;
     ON_PATH_AT(at, path);)
WRAP(char*, mkdtemp, (char* path), (path), POINTER; ON_PATH(path);)
WRAP(int, rmdir, (const char* path), (path), STATUS; ON_PATH(path);)
WRAP(int, chdir, (const char* path), (path), STATUS; ON_PATH(path); directory_changed();)
WRAP(int, fchdir, (int fd), (fd), STATUS; ON_FD(fd); directory_changed();)
WRAP(int, chroot, (const char* path), (path), STATUS; ON_PATH(path); directory_changed();)
WRAP(char*, getcwd, (char* to, size_t size), (to, size), POINTER;)
WRAP(char*, getwd, (char* to), (to), POINTER;)
WRAP(char*, __getwd_chk, (char* to, size_t room), (to, room), POINTER;)
WRAP(char*, __getcwd_chk, (char* to, size_t size, size_t room), (to, size, room), POINTER;)
WRAP(char*, get_current_dir_name, (void), (), POINTER;)
/* clang-format on */

/* The end of a directory is no failure; errno alone tells it from one. */
#define WRAP_READDIR(function, type)                         \
  CALL_SITE(function);                                       \
  FATHOM_EXPORT type* function(DIR* directory) {             \
    struct Call call;                                        \
    if (unlikely(!call_begin(&call, &site_##function)))      \
      return REAL(type*, function, (DIR*))(directory);       \
    const int before = errno;                                \
    errno = 0;                                               \
    type* result = REAL(type*, function, (DIR*))(directory); \
    call_stop(&call);                                        \
    struct Outcome outcome = {0};                            \
    if (result == NULL && errno != 0) FAILED_WITH(errno);    \
    if (errno == 0) errno = before;                          \
    ON_FD(dirfd(directory));                                 \
    END_CALL(function);                                      \
    return result;                                           \
  }
WRAP_READDIR(readdir, struct dirent)
WRAP_READDIR(readdir64, struct dirent64)

CALL_SITE(closedir);
FATHOM_EXPORT int closedir(DIR* directory) {
  struct Call call;
  const bool recorded = call_begin(&call, &site_closedir);
  struct Outcome outcome = {.file = directory != NULL ? forget_file(dirfd(directory)) : 0};
  const int result = REAL(int, closedir, (DIR*))(directory);
  if (unlikely(!recorded)) return result;
  call_stop(&call);
  STATUS;
  END_CALL(closedir);
  return result;
}
