/* SPDX-License-Identifier: Apache-2.0
 * Threads under seccomp. A filter may kill the process for any system call that the program itself
 * does not make, and strict mode for reading the time stamp counter. From the call that installs
 * the filter on, such a thread makes no system calls of ours, reads no clock and records nothing;
 * its calls are counted as lost. Thread-safe. */
#pragma once

#include "inject/core/core.h"

/* Whether it is known of this thread. Threads that were not seen before may have been created by
 * one under seccomp, and have inherited its filter. */
static inline bool is_sandboxed(struct Thread* thread) {
  const struct Sandboxes* known = &fathom_core.sandboxes;
  if (likely((known->threads | known->processes) == 0)) return false;
  if (known->processes == 0 && thread->epoch == THREAD_DETACHED && thread->vforked == kNotVforked)
    thread->sandboxed = 1;
  return thread->sandboxed != 0 || known->processes != 0;
}

/* Around system calls of ours. False: none may be made, and work_end must not be called. A call
 * that puts all threads under seccomp waits until none of them is in between. */
static inline bool work_begin(struct Thread* thread) {
  __atomic_fetch_add(&fathom_core.sandboxes.working, 1, __ATOMIC_SEQ_CST);
  if (likely(!is_sandboxed(thread))) return true;
  __atomic_fetch_sub(&fathom_core.sandboxes.working, 1, __ATOMIC_RELEASE);
  return false;
}
static inline void work_end(void) {
  __atomic_fetch_sub(&fathom_core.sandboxes.working, 1, __ATOMIC_RELEASE);
}

/* Whether the program was started under a seccomp filter that the recorder does not have, or may
 * not read the time stamp counter. Makes no system calls but those of the loader: open, read and
 * close. */
bool was_born_sandboxed(void);
