/* SPDX-License-Identifier: Apache-2.0
 * System calls that touch neither errno nor any function somebody may have replaced. They return
 * what the kernel does: a negative errno on failure.
 *
 * They are not the program's. A recorder that looks at system calls, too, gives us a number to mark
 * ours with (calls.bpf.c leaves them out): it stands in a register that no call has an argument in,
 * mixed with the stack pointer. The register goes on to what runs next; the place does not, so that
 * what a signal handler calls is never taken for ours. */
#pragma once

#include <stdint.h>
#include <sys/syscall.h>

extern uint64_t fathom_mark __attribute__((visibility("hidden"))); /* 0: nobody asked for it */

#ifdef __x86_64__
static inline long raw_call(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  register uint64_t r12 __asm__("r12") = fathom_mark;
  __asm__ volatile("xor %%rsp, %%r12\n\tsyscall\n\txor %%r12d, %%r12d"
                   : "=a"(result), "+r"(r12)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
static inline long raw_call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  register uint64_t x19 __asm__("x19") = fathom_mark;
  __asm__ volatile("mov x9, sp\n\teor x19, x19, x9\n\tsvc 0\n\tmov x19, xzr"
                   : "+r"(x0), "+r"(x19)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "x9", "memory");
  return x0;
}
#else
#error "this architecture's system calls are not known here"
#endif

/* Whether there is memory for all of it, which is there then. Linux 5.14; false before. */
static inline int raw_populate(void* at, unsigned long bytes) {
  enum { kPopulateWrite = 23 }; /* MADV_POPULATE_WRITE */
  return raw_call(SYS_madvise, (long)at, (long)bytes, kPopulateWrite, 0, 0, 0) == 0;
}
static inline uint32_t raw_getpid(void) { return (uint32_t)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0); }
static inline uint32_t raw_gettid(void) { return (uint32_t)raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0); }
static inline long raw_open(const char* path, long flags, long mode) {
  return raw_call(SYS_openat, -100 /* AT_FDCWD */, (long)path, flags, mode, 0, 0);
}
static inline long raw_close(long fd) { return raw_call(SYS_close, fd, 0, 0, 0, 0, 0); }
static inline long raw_write(long fd, const void* bytes, unsigned long size) {
  return raw_call(SYS_write, fd, (long)bytes, (long)size, 0, 0, 0);
}
static inline long raw_read(long fd, void* bytes, unsigned long size) {
  return raw_call(SYS_read, fd, (long)bytes, (long)size, 0, 0, 0);
}
static inline long raw_unlink(const char* path) {
  return raw_call(SYS_unlinkat, -100, (long)path, 0, 0, 0, 0);
}
/* The length; not ended by a 0. */
static inline long raw_readlink(const char* path, char* out, unsigned long size) {
  return raw_call(SYS_readlinkat, -100, (long)path, (long)out, (long)size, 0, 0);
}

enum { kSetMask = 2 /* SIG_SETMASK */ };
static inline void set_signals(uint64_t mask) {
  raw_call(SYS_rt_sigprocmask, kSetMask, (long)&mask, 0, sizeof mask, 0, 0);
}
/* All of them; what was blocked before. */
static inline uint64_t block_signals(void) {
  const uint64_t all = UINT64_MAX;
  uint64_t before = 0;
  raw_call(SYS_rt_sigprocmask, kSetMask, (long)&all, (long)&before, sizeof all, 0, 0);
  return before;
}
