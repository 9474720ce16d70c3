/* SPDX-License-Identifier: Apache-2.0
 * POSIX asynchronous I/O: the calls, with the bytes where aio_return tells them. */
#include <aio.h>

#include "inject/io/wrap.h"

/* clang-format off: a line each */
#define ON_REQUEST \
  STATUS;          \
  ON_FD(request->aio_fildes);
WRAP(int, aio_read, (struct aiocb * request), (request), ON_REQUEST)
WRAP(int, aio_read64, (struct aiocb64 * request), (request), ON_REQUEST)
WRAP(int, aio_write, (struct aiocb * request), (request), ON_REQUEST)
WRAP(int, aio_write64, (struct aiocb64 * request), (request), ON_REQUEST)
WRAP(int, aio_fsync, (int kind, struct aiocb* request), (kind, request), ON_REQUEST)
WRAP(int, aio_fsync64, (int kind, struct aiocb64* request), (kind, request), ON_REQUEST)
WRAP(ssize_t, aio_return, (struct aiocb * request), (request), BYTES; ON_FD(request->aio_fildes);)
WRAP(ssize_t, aio_return64, (struct aiocb64 * request), (request), BYTES;
     ON_FD(request->aio_fildes);)
WRAP(int, aio_suspend,
     (const struct aiocb* const* requests, int count, const struct timespec* limit),
     (requests, count, limit), STATUS;)
WRAP(int, aio_suspend64,
     (const struct aiocb64* const* requests, int count, const struct timespec* limit),
     (requests, count, limit), STATUS;)
WRAP(int, aio_cancel, (int fd, struct aiocb* request), (fd, request), STATUS; ON_FD(fd);)
WRAP(int, aio_cancel64, (int fd, struct aiocb64* request), (fd, request), STATUS; ON_FD(fd);)
WRAP(int, lio_listio, (int mode, struct aiocb* const* requests, int count, struct sigevent* then),
     (mode, requests, count, then), STATUS;)
WRAP(int, lio_listio64,
     (int mode, struct aiocb64* const* requests, int count, struct sigevent* then),
     (mode, requests, count, then), STATUS;)
