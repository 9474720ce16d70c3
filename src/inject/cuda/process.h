/* SPDX-License-Identifier: Apache-2.0
 * Short waits of threads of one process for each other, with signals held back. A forked child
 * finds what its parent's threads had taken free. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Gate {
  uint64_t taken; /* the process's number here, or 0 */
  uint64_t mask;  /* of signals, its owner's */
};

/* Another number in a forked child; cheap. */
extern uint64_t* fathom_process __attribute__((visibility("hidden"))); /* NULL: not asked for yet */
uint64_t new_process_number(void);
static inline uint64_t process_number(void) {
  const uint64_t* known = __atomic_load_n(&fathom_process, __ATOMIC_ACQUIRE);
  const uint64_t now = known != NULL ? __atomic_load_n(known, __ATOMIC_RELAXED) : 0;
  return now != 0 ? now : new_process_number();
}
bool gate_enter(struct Gate* gate); /* false: somebody keeps it for very long */
void gate_leave(struct Gate* gate);
