/* SPDX-License-Identifier: Apache-2.0
 * Lines of timeline.log that wait to be written. A call leaves its figures in a ring of its
 * thread's stripe, for some ten ns and without a lock, from any thread or signal handler; whoever
 * flushes makes text of them, in the order in which the calls ended. Their times are ticks until
 * then: the wall clock is read once a flush. All but line_add is for whoever holds the log's gate.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { kStripes = 16 };

struct Line {
  uint64_t turn; /* whose place in the ring it is, + 1; written last */
  uint64_t start_ticks, ticks, bytes;
  uint32_t driver, copy;
};

bool line_add(uint32_t stripe, const struct Line* line); /* false: the ring is full */
void lines_begin(uint64_t ticks_per_ns_32);              /* of a process; what waited is not its */
void line_write_now(const struct Line* line);
/* `ending`: no one is waited for who has not left its figures yet. */
void lines_write(bool ending);
