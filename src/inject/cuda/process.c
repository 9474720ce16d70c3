/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/process.h"

#include <sys/mman.h>

#include "inject/core/call.h"
#include "inject/core/raw.h"
#include "inject/core/real.h"
#include "inject/core/sandbox.h"

enum { kWipeOnFork = 18 /* MADV_WIPEONFORK */, kPatience = 100000 };

uint64_t* fathom_process; /* emptied in a child */
static uint64_t number;

static void forked_child(void) { *fathom_process = 0; }

static uint64_t* make_page(void) {
  const long at =
      raw_call(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static uint64_t none;
  if (at < 0 && at > -4096) return &none;
  uint64_t* expected = NULL;
  if (!__atomic_compare_exchange_n(&fathom_process, &expected, (uint64_t*)at, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    raw_call(SYS_munmap, at, 4096, 0, 0, 0, 0);
    return expected;
  }
  if (raw_call(SYS_madvise, at, 4096, kWipeOnFork, 0, 0, 0) != 0) (void)at_fork(forked_child);
  return (uint64_t*)at;
}

uint64_t new_process_number(void) {
  uint64_t* known = __atomic_load_n(&fathom_process, __ATOMIC_ACQUIRE);
  if (unlikely(known == NULL)) known = make_page();
  uint64_t empty = 0;
  const uint64_t next = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
  return __atomic_compare_exchange_n(known, &empty, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
             ? next
             : empty;
}

bool gate_enter(struct Gate* gate) {
  if (!work_begin(&fathom_thread)) return false;
  const uint64_t self = process_number();
  const uint64_t mask = block_signals();
  for (int tries = 0; tries < kPatience; ++tries) {
    uint64_t before = __atomic_load_n(&gate->taken, __ATOMIC_RELAXED);
    if (before != self && __atomic_compare_exchange_n(&gate->taken, &before, self, false,
                                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      gate->mask = mask;
      return true;
    }
    if (tries > 100) raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
  }
  set_signals(mask);
  work_end();
  return false;
}

void gate_leave(struct Gate* gate) {
  const uint64_t mask = gate->mask;
  __atomic_store_n(&gate->taken, 0, __ATOMIC_RELEASE);
  set_signals(mask);
  work_end();
}
