/* SPDX-License-Identifier: Apache-2.0
 * Writes the sums of a spool into a .pfw file: lines of seed 003 in its first form. By system calls
 * only, for one thread at a time. */
#pragma once

#include <stdbool.h>

#include "wire/spool.h"

/* Adds to `output` what `self` wrote, and what was left by processes that will write no more.
 * `path` is the spool's. True: nothing is left in it that is not written. */
bool pfw_write(const struct SpoolHeader* header, const char* path, const char* output,
               uint32_t self);
/* Whether something in it is `self`'s and not written. */
bool pfw_has(const struct SpoolHeader* header, uint32_t self);
