/* SPDX-License-Identifier: Apache-2.0
 * Which context and device the calling thread works with, as the driver says it. */
#pragma once

#include <stdint.h>

#include "inject/core/core.h"

struct Current {
  uintptr_t context; /* 0: none */
  int32_t device;    /* -1: none */
};
/* What a thread knows, and in which generation; 0: nothing. */
struct KnownContext {
  struct Current current;
  uint64_t generation;
};
extern __thread struct KnownContext fathom_context __attribute__((visibility("hidden")));
extern uint64_t fathom_contexts __attribute__((visibility("hidden"))); /* the generation now */
struct Current ask_current_context(void);

/* Asks the driver where something may have changed it; what was known else. */
static inline struct Current current_context(void) {
  if (likely(fathom_context.generation == __atomic_load_n(&fathom_contexts, __ATOMIC_RELAXED)))
    return fathom_context.current;
  return ask_current_context();
}
void context_changed(void);  /* of this thread */
void contexts_changed(void); /* of any */
