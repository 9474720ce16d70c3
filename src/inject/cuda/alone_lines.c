/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/alone_lines.h"

#include <fcntl.h>
#include <time.h>

#include "inject/cuda/alone.h"
#include "inject/cuda/driver.h"
#include "inject/cuda/log_text.h"

enum { kLines = 2048, kRoomForLine = 320, kTextBytes = 65536 };
#define SHORTEST_NS 1000000u /* between two looks at the clock that tell its rate */

static struct {
  uint64_t head; /* places taken so far */
  uint64_t tail __attribute__((aligned(64)));
  struct Line lines[kLines];
} rings[kStripes] __attribute__((aligned(64)));

/* The same moment on both clocks. */
struct Moment {
  uint64_t ticks, ns;
};
static struct Moment last;           /* when lines were last written */
static struct Moment base;           /* by which times are told now */
static uint64_t usual_rate_32, rate; /* ns in 2^32 ticks */

static char buffer[kTextBytes];
static struct Text text;

bool line_add(uint32_t stripe, const struct Line* line) {
  uint64_t at = __atomic_load_n(&rings[stripe].head, __ATOMIC_RELAXED);
  do {
    if (at - __atomic_load_n(&rings[stripe].tail, __ATOMIC_ACQUIRE) >= kLines) return false;
  } while (!__atomic_compare_exchange_n(&rings[stripe].head, &at, at + 1, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  struct Line* to = &rings[stripe].lines[at % kLines];
  to->start_ticks = line->start_ticks;
  to->ticks = line->ticks;
  to->bytes = line->bytes;
  to->driver = line->driver;
  to->copy = line->copy;
  __atomic_store_n(&to->turn, at + 1, __ATOMIC_RELEASE);
  return true;
}

static uint64_t scaled(uint64_t ticks, uint64_t by_32) {
  return (uint64_t)(((unsigned __int128)ticks * by_32) >> 32);
}

static struct Moment moment_now(void) {
  const uint64_t ns = clock_ns(CLOCK_REALTIME);
  return (struct Moment){ticks_now(), ns};
}

/* Between the last two looks the rate is exactly known, unless somebody set the clock. */
static void look_at_clock(void) {
  const struct Moment now = moment_now();
  const uint64_t ticks = now.ticks - last.ticks, expected = scaled(ticks, usual_rate_32);
  const uint64_t ns = now.ns - last.ns, slack = expected >> 6;
  if (expected < SHORTEST_NS) { /* too short to tell, and to matter */
    base = now;
    rate = usual_rate_32;
    return;
  }
  const bool is_even = ns >= expected - slack && ns <= expected + slack;
  base = is_even ? last : now;
  rate = is_even ? (uint64_t)(((unsigned __int128)ns << 32) / ticks) : usual_rate_32;
  last = now;
}

static uint64_t wall_ns(uint64_t ticks) {
  return ticks >= base.ticks ? base.ns + scaled(ticks - base.ticks, rate)
                             : base.ns - scaled(base.ticks - ticks, rate);
}

void lines_begin(uint64_t ticks_per_ns_32) {
  usual_rate_32 = rate = (uint64_t)(((unsigned __int128)1 << 64) / ticks_per_ns_32);
  last = base = moment_now();
  text = text_in(buffer, sizeof buffer);
  for (int i = 0; i < kStripes; ++i)
    __atomic_store_n(&rings[i].tail, __atomic_load_n(&rings[i].head, __ATOMIC_RELAXED),
                     __ATOMIC_RELEASE);
}

static void write_text(void) {
  if (text.at == buffer) return;
  log_write(log_files()->timeline, buffer, (size_t)(text.at - buffer), O_APPEND);
  text = text_in(buffer, sizeof buffer);
}

static void put_waiting(const struct Line* line) {
  if (text.end - text.at < kRoomForLine) write_text();
  put_line(&text, &__start_fathom_driver[line->driver], wall_ns(line->start_ticks),
           scaled(line->ticks, rate), line->bytes, line->copy);
}

/* The one that ended first of those that come next; NULL: there is none, or it is being written. */
static const struct Line* next_line(uint32_t* stripe) {
  const struct Line* first = NULL;
  for (uint32_t i = 0; i < kStripes; ++i) {
    const uint64_t at = rings[i].tail;
    if (at == __atomic_load_n(&rings[i].head, __ATOMIC_RELAXED)) continue;
    const struct Line* line = &rings[i].lines[at % kLines];
    if (__atomic_load_n(&line->turn, __ATOMIC_ACQUIRE) != at + 1) continue;
    if (first != NULL && first->start_ticks + first->ticks <= line->start_ticks + line->ticks)
      continue;
    first = line;
    *stripe = i;
  }
  return first;
}

/* Past what was begun and will never be whole. */
static bool skip_unwritten(void) {
  bool any = false;
  for (int i = 0; i < kStripes; ++i) {
    if (rings[i].tail == __atomic_load_n(&rings[i].head, __ATOMIC_RELAXED)) continue;
    ++rings[i].tail;
    any = true;
  }
  return any;
}

void line_write_now(const struct Line* line) {
  look_at_clock();
  put_waiting(line);
  write_text();
}

void lines_write(bool ending) {
  uint32_t stripe = 0;
  look_at_clock();
  do {
    const struct Line* line;
    while ((line = next_line(&stripe)) != NULL) {
      put_waiting(line);
      __atomic_store_n(&rings[stripe].tail, rings[stripe].tail + 1, __ATOMIC_RELEASE);
    }
  } while (ending && skip_unwritten());
  write_text();
}
