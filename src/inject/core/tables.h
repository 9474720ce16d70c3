/* SPDX-License-Identifier: Apache-2.0
 * What is too large for the library itself: the loader would map memory for it, in a system call
 * that nobody could tell from the program's. Mapped with the desks; each process has its own. */
#pragma once

#include "inject/core/name_table.h"

enum {
  kMostFds = 65536,
  kScratches = 32,
  kShortPath = 256, /* what fits on any stack */
  kFolders = 64,
};

/* Room for a path, not on the stack: a thread's or a signal handler's may be small. Whoever has one
 * takes no signals, so that nobody jumps away with it. */
struct Scratch {
  uint32_t taken; /* by a thread of this process; a parent's are free */
  uint64_t mask;
  char text[kSpoolMostPath + 8];
};

/* A folder that names began with lately, by what it was asked for with. Odd turns: being written.
 */
struct Folder {
  uint64_t key;
  uint32_t turn, length;
  char text[kShortPath]; /* with a slash at its end */
};

struct Tables {
  uint64_t name_slots[kNameSlots];
  uint32_t fd_files[kMostFds]; /* 0: ask */
  struct Folder folders[kFolders];
  struct Scratch scratches[kScratches];
};
