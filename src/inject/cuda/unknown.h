/* SPDX-License-Identifier: Apache-2.0
 * Functions of the driver that are not in our list, as of a newer driver: they are counted by name,
 * and nothing else is known of them. Any thread, any signal handler. */
#pragma once

#include <stdint.h>

struct Text;

/* What stands before `real`, which a program found by this name, and counts its calls; the same for
 * the same. NULL: there is no room, or no way on this machine. */
void* unknown_counted(const char* name, void* real);

/* Where nobody records, for whoever holds the log's gate. */
void unknown_forget_counts(void);
void unknown_put_counts(struct Text* text);
