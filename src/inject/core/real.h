/* SPDX-License-Identifier: Apache-2.0
 * Fills CallSite::real of every wrapped function. */
#pragma once

#include <stdbool.h>

void find_real_functions(void);
extern void* fathom_real_vfork __attribute__((visibility("hidden")));
/* Where the kernel cannot empty a page for children: the C library calls `child` in each. */
bool at_fork(void (*child)(void));
