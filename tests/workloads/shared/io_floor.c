/* SPDX-License-Identifier: Apache-2.0
 * The least that a library before libc can do, for bench/io: stands before the functions that
 * io_loop calls, and does nothing but call them. With FLOOR=clock it also reads the clock of the
 * CPU before and after, and keeps the difference. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#ifdef __x86_64__
#include <x86intrin.h>
#else
static uint64_t __rdtsc(void) { return 0; }
#endif

static int with_clock;
static __thread uint64_t kept __attribute__((tls_model("initial-exec")));

#define WRAP(type, function, parameters, arguments)                   \
  static type(*real_##function) parameters;                           \
  type function parameters {                                          \
    if (!with_clock) {                                                \
      type plain = real_##function arguments;                         \
      __asm__ volatile("" ::: "memory"); /* a call, and not a jump */ \
      return plain;                                                   \
    }                                                                 \
    const uint64_t start = __rdtsc();                                 \
    type result = real_##function arguments;                          \
    kept += __rdtsc() - start;                                        \
    return result;                                                    \
  }
WRAP(int, fputc, (int byte, FILE* to), (byte, to))
WRAP(size_t, fwrite, (const void* from, size_t size, size_t count, FILE* to),
     (from, size, count, to))
WRAP(off_t, lseek, (int fd, off_t to, int whence), (fd, to, whence))
WRAP(ssize_t, write, (int fd, const void* from, size_t size), (fd, from, size))

__attribute__((constructor)) static void find(void) {
  const char* floor = getenv("FLOOR");
  with_clock = floor != NULL && strcmp(floor, "clock") == 0;
  *(void**)&real_fputc = dlsym(RTLD_NEXT, "fputc");
  *(void**)&real_fwrite = dlsym(RTLD_NEXT, "fwrite");
  *(void**)&real_lseek = dlsym(RTLD_NEXT, "lseek");
  *(void**)&real_write = dlsym(RTLD_NEXT, "write");
}
