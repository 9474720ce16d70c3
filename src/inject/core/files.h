/* SPDX-License-Identifier: Apache-2.0
 * Which file a descriptor or a path is: numbers whose names stand in the spool. For any thread. A
 * descriptor that came unseen (inherited, from another process) is asked for at its first use. */
#pragma once

#include <fcntl.h>
#include <stdint.h>

#include "inject/core/tables.h"

uint32_t ask_for_file(int fd);

/* 0: none. For calls that are recorded. A vfork child has descriptors of its own, but the table is
 * its parent's. */
static inline uint32_t file_of_fd(int fd) {
  const uint32_t known = likely((uint32_t)fd < kMostFds) ? fathom_core.tables->fd_files[fd] : 0;
  return likely(known != 0 && !fathom_thread.vforked) ? known : ask_for_file(fd);
}
/* The name is that of a call that has just returned, with errno if it failed: only then is it
 * certain that `path` can be read. */
uint32_t file_of_path(int directory, const char* path, bool failed);
/* A name that is no path. */
uint32_t file_named(const char* name, size_t length);

void set_file(int fd, uint32_t file);
/* Before they are closed, and after call_begin, which knows whose table it is. */
uint32_t forget_file(int fd); /* which it was, if that is known */
void forget_files(unsigned first, unsigned last);
void directory_changed(void);
void folders_moved(void); /* something has another name now, perhaps one that others begin with */
