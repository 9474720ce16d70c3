/* SPDX-License-Identifier: Apache-2.0
 * Fills CallSite::real of every wrapped function. */
#pragma once

#include <stdbool.h>

struct link_map;
void find_real_functions(void);
/* What a loaded library defines in its default version; NULL: it does not. */
void* find_function(const struct link_map* library, const char* name);
/* The first that is loaded after ours and has it. */
void* find_next_function(const char* name);
extern void* fathom_real_vfork __attribute__((visibility("hidden")));
extern void* fathom_real_syscall __attribute__((visibility("hidden")));
/* Where the kernel cannot empty a page for children: the C library calls `child` in each. */
bool at_fork(void (*child)(void));
