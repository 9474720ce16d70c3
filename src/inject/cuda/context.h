/* SPDX-License-Identifier: Apache-2.0
 * Which context and device the calling thread works with, as the driver says it. */
#pragma once

#include <stdint.h>

struct Current {
  uintptr_t context; /* 0: none */
  int32_t device;    /* -1: none */
};
/* Asks the driver where something may have changed it; what was known else. */
struct Current current_context(void);
struct Current ask_current_context(void);
void context_changed(void);  /* of this thread */
void contexts_changed(void); /* of any */
