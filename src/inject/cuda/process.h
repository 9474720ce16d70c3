/* SPDX-License-Identifier: Apache-2.0
 * Short waits of threads of one process for each other, with signals held back. A forked child
 * finds what its parent's threads had taken free. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct Gate {
  uint64_t taken; /* the process's number here, or 0 */
  uint64_t mask;  /* of signals, its owner's */
};

/* Another number in a forked child; cheap. */
uint64_t process_number(void);
bool gate_enter(struct Gate* gate); /* false: somebody keeps it for very long */
void gate_leave(struct Gate* gate);
