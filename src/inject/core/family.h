/* SPDX-License-Identifier: Apache-2.0
 * What a shim tells the core of itself. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct Family {
  const char* name;
  uint32_t version;
  const char* suffix; /* of the names of its settings, so that two libraries have two spools */
  /* Where there is no recorder: whether to record all the same, and into which file. */
  bool (*alone)(char* path, unsigned long size);
  /* When all is set up, or nothing will be recorded. */
  void (*started)(bool on);
  /* Before a thread installs a seccomp filter, and after it did. May be NULL. */
  void (*sandboxed)(bool installed);
};
extern const struct Family fathom_family __attribute__((visibility("hidden")));
