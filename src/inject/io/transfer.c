/* SPDX-License-Identifier: Apache-2.0
 * Moving bytes through descriptors, and where they stand in their files. */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inject/io/wrap.h"

WRAP(ssize_t, read, (int fd, void* to, size_t size), (fd, to, size), BYTES; ON_FD(fd);)
WRAP(ssize_t, __read, (int fd, void* to, size_t size), (fd, to, size), BYTES; ON_FD(fd);)
WRAP(ssize_t, __read_chk, (int fd, void* to, size_t size, size_t room), (fd, to, size, room), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, write, (int fd, const void* from, size_t size), (fd, from, size), BYTES; ON_FD(fd);)
WRAP(ssize_t, __write, (int fd, const void* from, size_t size), (fd, from, size), BYTES; ON_FD(fd);)
WRAP(ssize_t, pread, (int fd, void* to, size_t size, off_t at), (fd, to, size, at), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, pread64, (int fd, void* to, size_t size, off64_t at), (fd, to, size, at), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, __pread64, (int fd, void* to, size_t size, off64_t at), (fd, to, size, at), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, __pread_chk, (int fd, void* to, size_t size, off_t at, size_t room),
     (fd, to, size, at, room), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, __pread64_chk, (int fd, void* to, size_t size, off64_t at, size_t room),
     (fd, to, size, at, room), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, pwrite, (int fd, const void* from, size_t size, off_t at), (fd, from, size, at),
     BYTES;
     ON_FD(fd);)
WRAP(ssize_t, pwrite64, (int fd, const void* from, size_t size, off64_t at), (fd, from, size, at),
     BYTES;
     ON_FD(fd);)
WRAP(ssize_t, __pwrite64, (int fd, const void* from, size_t size, off64_t at), (fd, from, size, at),
     BYTES;
     ON_FD(fd);)
WRAP(ssize_t, readv, (int fd, const struct iovec* to, int count), (fd, to, count), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, writev, (int fd, const struct iovec* from, int count), (fd, from, count), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, preadv, (int fd, const struct iovec* to, int count, off_t at), (fd, to, count, at),
     BYTES;
     ON_FD(fd);)
WRAP(ssize_t, preadv64, (int fd, const struct iovec* to, int count, off64_t at),
     (fd, to, count, at), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, pwritev, (int fd, const struct iovec* from, int count, off_t at),
     (fd, from, count, at), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, pwritev64, (int fd, const struct iovec* from, int count, off64_t at),
     (fd, from, count, at), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, preadv2, (int fd, const struct iovec* to, int count, off_t at, int flags),
     (fd, to, count, at, flags), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, preadv64v2, (int fd, const struct iovec* to, int count, off64_t at, int flags),
     (fd, to, count, at, flags), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, pwritev2, (int fd, const struct iovec* from, int count, off_t at, int flags),
     (fd, from, count, at, flags), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, pwritev64v2, (int fd, const struct iovec* from, int count, off64_t at, int flags),
     (fd, from, count, at, flags), BYTES;
     ON_FD(fd);)
WRAP(ssize_t, process_vm_readv,
     (pid_t pid, const struct iovec* to, unsigned long tos, const struct iovec* from,
      unsigned long froms, unsigned long flags),
     (pid, to, tos, from, froms, flags), BYTES;)
WRAP(ssize_t, process_vm_writev,
     (pid_t pid, const struct iovec* from, unsigned long froms, const struct iovec* to,
      unsigned long tos, unsigned long flags),
     (pid, from, froms, to, tos, flags), BYTES;)

/* Of two files, the one that is read. */
WRAP(ssize_t, sendfile, (int to, int from, off_t* at, size_t size), (to, from, at, size), BYTES;
     ON_FD(from);)
WRAP(ssize_t, sendfile64, (int to, int from, off64_t* at, size_t size), (to, from, at, size), BYTES;
     ON_FD(from);)
WRAP(ssize_t, copy_file_range,
     (int from, off64_t* at, int to, off64_t* to_at, size_t size, unsigned flags),
     (from, at, to, to_at, size, flags), BYTES;
     ON_FD(from);)
WRAP(ssize_t, splice, (int from, off64_t* at, int to, off64_t* to_at, size_t size, unsigned flags),
     (from, at, to, to_at, size, flags), BYTES;
     ON_FD(from);)
WRAP(ssize_t, tee, (int from, int to, size_t size, unsigned flags), (from, to, size, flags), BYTES;
     ON_FD(from);)
WRAP(ssize_t, vmsplice, (int fd, const struct iovec* from, size_t count, unsigned flags),
     (fd, from, count, flags), BYTES;
     ON_FD(fd);)

WRAP(off_t, lseek, (int fd, off_t at, int from), (fd, at, from), STATUS; ON_FD(fd);)
WRAP(off_t, __lseek, (int fd, off_t at, int from), (fd, at, from), STATUS; ON_FD(fd);)
WRAP(off64_t, llseek, (int fd, off64_t at, int from), (fd, at, from), STATUS; ON_FD(fd);)
WRAP(off64_t, lseek64, (int fd, off64_t at, int from), (fd, at, from), STATUS; ON_FD(fd);)

WRAP(int, fsync, (int fd), (fd), STATUS; ON_FD(fd);)
WRAP(int, fdatasync, (int fd), (fd), STATUS; ON_FD(fd);)
WRAP(int, syncfs, (int fd), (fd), STATUS; ON_FD(fd);)
WRAP(int, sync_file_range, (int fd, off64_t at, off64_t size, unsigned flags),
     (fd, at, size, flags), STATUS;
     ON_FD(fd);)
WRAP_VOID(sync, (void), ())
WRAP(int, truncate, (const char* path, off_t size), (path, size), STATUS; ON_PATH(path);)
WRAP(int, truncate64, (const char* path, off64_t size), (path, size), STATUS; ON_PATH(path);)
WRAP(int, ftruncate, (int fd, off_t size), (fd, size), STATUS; ON_FD(fd);)
WRAP(int, ftruncate64, (int fd, off64_t size), (fd, size), STATUS; ON_FD(fd);)
WRAP(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size), STATUS;
     ON_FD(fd);)
WRAP(int, fallocate64, (int fd, int mode, off64_t at, off64_t size), (fd, mode, at, size), STATUS;
     ON_FD(fd);)
WRAP(int, posix_fallocate, (int fd, off_t at, off_t size), (fd, at, size), ERROR_NUMBER; ON_FD(fd);)
WRAP(int, posix_fallocate64, (int fd, off64_t at, off64_t size), (fd, at, size), ERROR_NUMBER;
     ON_FD(fd);)
WRAP(int, posix_fadvise, (int fd, off_t at, off_t size, int advice), (fd, at, size, advice),
     ERROR_NUMBER;
     ON_FD(fd);)
WRAP(int, posix_fadvise64, (int fd, off64_t at, off64_t size, int advice), (fd, at, size, advice),
     ERROR_NUMBER;
     ON_FD(fd);)
WRAP(ssize_t, readahead, (int fd, off64_t at, size_t size), (fd, at, size), STATUS; ON_FD(fd);)
WRAP(int, flock, (int fd, int operation), (fd, operation), STATUS; ON_FD(fd);)
WRAP(int, lockf, (int fd, int operation, off_t size), (fd, operation, size), STATUS; ON_FD(fd);)
WRAP(int, lockf64, (int fd, int operation, off64_t size), (fd, operation, size), STATUS; ON_FD(fd);)
