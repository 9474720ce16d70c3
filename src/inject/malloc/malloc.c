/* SPDX-License-Identifier: Apache-2.0
 * The malloc family, in a library of its own (libfathom-io-malloc.so): it is asked for, since it is
 * called far more often than anything else. Bytes are those asked for. A program that brings its
 * own malloc keeps it, and is not seen. */
#include <malloc.h>
#include <stdlib.h>

#include "inject/io/wrap.h"

/* clang-format off: a line each */
#define ALLOCATED(size) \
  MOVED(size);          \
  FAILED_IF(result == NULL && (size) != 0);
WRAP(void*, malloc, (size_t size), (size), ALLOCATED(size))
WRAP(void*, calloc, (size_t count, size_t size), (count, size), ALLOCATED(count* size))
WRAP(void*, realloc, (void* memory, size_t size), (memory, size), ALLOCATED(size))
WRAP(void*, reallocarray, (void* memory, size_t count, size_t size), (memory, count, size),
     ALLOCATED(count* size))
WRAP(void*, memalign, (size_t alignment, size_t size), (alignment, size), ALLOCATED(size))
WRAP(void*, aligned_alloc, (size_t alignment, size_t size), (alignment, size), ALLOCATED(size))
WRAP(void*, valloc, (size_t size), (size), ALLOCATED(size))
WRAP(void*, pvalloc, (size_t size), (size), ALLOCATED(size))
WRAP(int, posix_memalign, (void** to, size_t alignment, size_t size), (to, alignment, size),
     MOVED(size);
     ERROR_NUMBER;)
WRAP_VOID(free, (void* memory), (memory))
WRAP_VOID(cfree, (void* memory), (memory))
