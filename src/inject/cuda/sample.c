/* SPDX-License-Identifier: Apache-2.0
 * Launches that are left out. The steps are uneven, so that a loop of launches is not always seen
 * at the same place; each that is recorded stands for itself and those left out before it on its
 * thread, so that weights add up to what was launched. */
#include "inject/cuda/driver.h"

HOT_DATA uint32_t fathom_sample_launches;
static __thread uint64_t left_out, wanted, state, weight;

static uint64_t next_step(void) {
  if (state == 0) state = (uint64_t)(uintptr_t)&state | 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return 1 + state % (2u * fathom_sample_launches - 1); /* as many on average */
}

bool launch_left_out(void) {
  if (fathom_alone) return false; /* there all are counted, and cost little */
  if (wanted == 0) wanted = next_step();
  if (++left_out < wanted) return true;
  weight = left_out;
  left_out = 0;
  wanted = next_step();
  return false;
}

uint64_t launch_weight(void) {
  const uint64_t now = weight;
  weight = 0;
  return now;
}
