/* SPDX-License-Identifier: Apache-2.0
 * Without a recorder: LD_PRELOAD=libfathom-io.so PROGRAM writes profile.pfw when it exits, or what
 * FATHOM_IO_FILE names. Processes of one run add to one file. */
#pragma once

#include <stdbool.h>

bool alone_path(char* path, unsigned long size);
void alone_started(bool on);
