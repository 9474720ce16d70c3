/* SPDX-License-Identifier: Apache-2.0
 * Files mapped into memory. What is moved by touching it is not seen here: no call does it. */
#include <stdarg.h>
#include <sys/mman.h>

#include "inject/io/wrap.h"

#define ADDRESS FAILED_IF(result == MAP_FAILED)
WRAP(void*, mmap, (void* at, size_t size, int access, int flags, int fd, off_t from),
     (at, size, access, flags, fd, from), ADDRESS;
     if (!(flags & MAP_ANONYMOUS)) ON_FD(fd);)
WRAP(void*, mmap64, (void* at, size_t size, int access, int flags, int fd, off64_t from),
     (at, size, access, flags, fd, from), ADDRESS;
     if (!(flags & MAP_ANONYMOUS)) ON_FD(fd);)
WRAP(int, munmap, (void* at, size_t size), (at, size), STATUS;)
WRAP(int, msync, (void* at, size_t size, int flags), (at, size, flags), STATUS;)
WRAP(int, madvise, (void* at, size_t size, int advice), (at, size, advice), STATUS;)
WRAP(int, posix_madvise, (void* at, size_t size, int advice), (at, size, advice), ERROR_NUMBER;)

CALL_SITE(mremap);
FATHOM_EXPORT void* mremap(void* at, size_t size, size_t new_size, int flags, ...) {
  va_list more;
  va_start(more, flags);
  void* to = va_arg(more, void*);
  va_end(more);
  struct Call call;
  if (unlikely(!call_begin(&call, &site_mremap)))
    return REAL(void*, mremap, (void*, size_t, size_t, int, ...))(at, size, new_size, flags, to);
  void* result =
      REAL(void*, mremap, (void*, size_t, size_t, int, ...))(at, size, new_size, flags, to);
  call_stop(&call);
  struct Outcome outcome = {0};
  ADDRESS;
  END_CALL(mremap);
  return result;
}
