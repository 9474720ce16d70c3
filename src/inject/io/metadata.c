/* SPDX-License-Identifier: Apache-2.0
 * What is known about files, and their names. */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "inject/io/wrap.h"

/* clang-format off: a line each */
#define AT_PATH \
  STATUS;       \
  ON_PATH(path);
#define AT_FD \
  STATUS;     \
  ON_FD(fd);
#define AT_PATH_AT \
  STATUS;          \
  ON_PATH_AT(at, path);
#define LENGTH_AT_PATH \
  BYTES;               \
  ON_PATH(path);

WRAP(int, stat, (const char* path, struct stat* to), (path, to), AT_PATH)
WRAP(int, stat64, (const char* path, struct stat64* to), (path, to), AT_PATH)
WRAP(int, lstat, (const char* path, struct stat* to), (path, to), AT_PATH)
WRAP(int, lstat64, (const char* path, struct stat64* to), (path, to), AT_PATH)
WRAP(int, fstat, (int fd, struct stat* to), (fd, to), AT_FD)
WRAP(int, fstat64, (int fd, struct stat64* to), (fd, to), AT_FD)
WRAP(int, fstatat, (int at, const char* path, struct stat* to, int flags), (at, path, to, flags),
     AT_PATH_AT)
WRAP(int, fstatat64, (int at, const char* path, struct stat64* to, int flags),
     (at, path, to, flags), AT_PATH_AT)
WRAP(int, statx, (int at, const char* path, int flags, unsigned mask, struct statx* to),
     (at, path, flags, mask, to), AT_PATH_AT)
WRAP(int, __xstat, (int version, const char* path, struct stat* to), (version, path, to), AT_PATH)
WRAP(int, __xstat64, (int version, const char* path, struct stat64* to), (version, path, to),
     AT_PATH)
WRAP(int, __lxstat, (int version, const char* path, struct stat* to), (version, path, to), AT_PATH)
WRAP(int, __lxstat64, (int version, const char* path, struct stat64* to), (version, path, to),
     AT_PATH)
WRAP(int, __fxstat, (int version, int fd, struct stat* to), (version, fd, to), AT_FD)
WRAP(int, __fxstat64, (int version, int fd, struct stat64* to), (version, fd, to), AT_FD)
WRAP(int, __fxstatat, (int version, int at, const char* path, struct stat* to, int flags),
     (version, at, path, to, flags), AT_PATH_AT)
WRAP(int, __fxstatat64, (int version, int at, const char* path, struct stat64* to, int flags),
     (version, at, path, to, flags), AT_PATH_AT)

WRAP(int, statfs, (const char* path, struct statfs* to), (path, to), AT_PATH)
WRAP(int, statfs64, (const char* path, struct statfs64* to), (path, to), AT_PATH)
WRAP(int, fstatfs, (int fd, struct statfs* to), (fd, to), AT_FD)
WRAP(int, fstatfs64, (int fd, struct statfs64* to), (fd, to), AT_FD)
WRAP(int, statvfs, (const char* path, struct statvfs* to), (path, to), AT_PATH)
WRAP(int, statvfs64, (const char* path, struct statvfs64* to), (path, to), AT_PATH)
WRAP(int, fstatvfs, (int fd, struct statvfs* to), (fd, to), AT_FD)
WRAP(int, fstatvfs64, (int fd, struct statvfs64* to), (fd, to), AT_FD)

WRAP(int, access, (const char* path, int mode), (path, mode), AT_PATH)
WRAP(int, euidaccess, (const char* path, int mode), (path, mode), AT_PATH)
WRAP(int, eaccess, (const char* path, int mode), (path, mode), AT_PATH)
WRAP(int, faccessat, (int at, const char* path, int mode, int flags), (at, path, mode, flags),
     AT_PATH_AT)
WRAP(int, chmod, (const char* path, mode_t mode), (path, mode), AT_PATH)
WRAP(int, lchmod, (const char* path, mode_t mode), (path, mode), AT_PATH)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), AT_FD)
WRAP(int, fchmodat, (int at, const char* path, mode_t mode, int flags), (at, path, mode, flags),
     AT_PATH_AT)
WRAP(int, chown, (const char* path, uid_t user, gid_t group), (path, user, group), AT_PATH)
WRAP(int, lchown, (const char* path, uid_t user, gid_t group), (path, user, group), AT_PATH)
WRAP(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), AT_FD)
WRAP(int, fchownat, (int at, const char* path, uid_t user, gid_t group, int flags),
     (at, path, user, group, flags), AT_PATH_AT)
WRAP(int, utime, (const char* path, const struct utimbuf* times), (path, times), AT_PATH)
WRAP(int, utimes, (const char* path, const struct timeval times[2]), (path, times), AT_PATH)
WRAP(int, lutimes, (const char* path, const struct timeval times[2]), (path, times), AT_PATH)
WRAP(int, futimes, (int fd, const struct timeval times[2]), (fd, times), AT_FD)
WRAP(int, futimesat, (int at, const char* path, const struct timeval times[2]), (at, path, times),
     STATUS;
     if (path) ON_PATH_AT(at, path); else ON_FD(at);)
WRAP(int, utimensat, (int at, const char* path, const struct timespec times[2], int flags),
     (at, path, times, flags), STATUS;
     if (path) ON_PATH_AT(at, path); else ON_FD(at);)
WRAP(int, futimens, (int fd, const struct timespec times[2]), (fd, times), AT_FD)

/* Of two names the first, as it was before. */
WRAP(int, link, (const char* path, const char* to), (path, to), AT_PATH)
WRAP(int, linkat, (int at, const char* path, int to_at, const char* to, int flags),
     (at, path, to_at, to, flags), AT_PATH_AT)
WRAP(int, symlink, (const char* target, const char* path), (target, path), AT_PATH)
WRAP(int, symlinkat, (const char* target, int at, const char* path), (target, at, path), AT_PATH_AT)
WRAP(int, rename, (const char* path, const char* to), (path, to), AT_PATH folders_moved();)
WRAP(int, renameat, (int at, const char* path, int to_at, const char* to), (at, path, to_at, to),
     AT_PATH_AT folders_moved();)
WRAP(int, renameat2, (int at, const char* path, int to_at, const char* to, unsigned flags),
     (at, path, to_at, to, flags), AT_PATH_AT folders_moved();)
WRAP(int, unlink, (const char* path), (path), AT_PATH)
WRAP(int, unlinkat, (int at, const char* path, int flags), (at, path, flags), AT_PATH_AT)
WRAP(int, remove, (const char* path), (path), AT_PATH)
WRAP(ssize_t, readlink, (const char* path, char* to, size_t size), (path, to, size), LENGTH_AT_PATH)
WRAP(ssize_t, __readlink_chk, (const char* path, char* to, size_t size, size_t room),
     (path, to, size, room), LENGTH_AT_PATH)
WRAP(ssize_t, readlinkat, (int at, const char* path, char* to, size_t size), (at, path, to, size),
     BYTES;
     ON_PATH_AT(at, path);)
WRAP(ssize_t, __readlinkat_chk, (int at, const char* path, char* to, size_t size, size_t room),
     (at, path, to, size, room), BYTES;
     ON_PATH_AT(at, path);)
WRAP(char*, realpath, (const char* path, char* to), (path, to), POINTER; ON_PATH(path);)
WRAP(char*, __realpath_chk, (const char* path, char* to, size_t room), (path, to, room), POINTER;
     ON_PATH(path);)
WRAP(char*, canonicalize_file_name, (const char* path), (path), POINTER; ON_PATH(path);)
WRAP(int, mknod, (const char* path, mode_t mode, dev_t device), (path, mode, device), AT_PATH)
WRAP(int, mknodat, (int at, const char* path, mode_t mode, dev_t device), (at, path, mode, device),
     AT_PATH_AT)
WRAP(int, __xmknod, (int version, const char* path, mode_t mode, dev_t* device),
     (version, path, mode, device), AT_PATH)
WRAP(int, __xmknodat, (int version, int at, const char* path, mode_t mode, dev_t* device),
     (version, at, path, mode, device), AT_PATH_AT)
WRAP(int, mkfifo, (const char* path, mode_t mode), (path, mode), AT_PATH)
WRAP(int, mkfifoat, (int at, const char* path, mode_t mode), (at, path, mode), AT_PATH_AT)
WRAP(int, name_to_handle_at,
     (int at, const char* path, struct file_handle* to, int* mount, int flags),
     (at, path, to, mount, flags), AT_PATH_AT)

WRAP(ssize_t, getxattr, (const char* path, const char* name, void* to, size_t size),
     (path, name, to, size), LENGTH_AT_PATH)
WRAP(ssize_t, lgetxattr, (const char* path, const char* name, void* to, size_t size),
     (path, name, to, size), LENGTH_AT_PATH)
WRAP(ssize_t, fgetxattr, (int fd, const char* name, void* to, size_t size), (fd, name, to, size),
     BYTES;
     ON_FD(fd);)
WRAP(ssize_t, listxattr, (const char* path, char* to, size_t size), (path, to, size),
     LENGTH_AT_PATH)
WRAP(ssize_t, llistxattr, (const char* path, char* to, size_t size), (path, to, size),
     LENGTH_AT_PATH)
WRAP(ssize_t, flistxattr, (int fd, char* to, size_t size), (fd, to, size), BYTES; ON_FD(fd);)
WRAP(int, setxattr, (const char* path, const char* name, const void* from, size_t size, int flags),
     (path, name, from, size, flags), AT_PATH)
WRAP(int, lsetxattr, (const char* path, const char* name, const void* from, size_t size, int flags),
     (path, name, from, size, flags), AT_PATH)
WRAP(int, fsetxattr, (int fd, const char* name, const void* from, size_t size, int flags),
     (fd, name, from, size, flags), AT_FD)
WRAP(int, removexattr, (const char* path, const char* name), (path, name), AT_PATH)
WRAP(int, lremovexattr, (const char* path, const char* name), (path, name), AT_PATH)
WRAP(int, fremovexattr, (int fd, const char* name), (fd, name), AT_FD)
