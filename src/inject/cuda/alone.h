/* SPDX-License-Identifier: Apache-2.0
 * Without a recorder: metrics.log and timeline.log in the folder that PFLOG names, as seed 002 has
 * them. Sums are kept for each function; lines wait for a tenth of a second, for the end, or for a
 * signal that ends the process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct Driver;
struct About;
bool alone_begin(char* path, unsigned long size);
void alone_started(bool on);
void alone_end(struct Driver* driver, uint64_t start_ticks, uint64_t end_ticks, int result,
               const struct About* about);
void alone_count(struct Driver* driver); /* one that is not timed */
void alone_count_unknown(uint64_t* count);
/* Writes what waits. `ending`: nothing may come after it. */
void alone_flush(bool ending);

void alone_sandboxed(bool installed);

/* alone_files.c: which files are this process's. */
struct LogFiles {
  char metrics[1100], timeline[1100], claim[1100];
};
bool log_folder_find(void);             /* at load */
const struct LogFiles* log_files(void); /* the first writer of a folder has the plain names */
void log_files_forget(void);            /* in a forked child */
void log_files_release(void);
void log_write(const char* path, const char* bytes, unsigned long size, int flags);
