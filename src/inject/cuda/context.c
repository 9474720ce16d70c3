/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/context.h"

#include "inject/cuda/driver.h"

static __thread struct Current current = {0, -1};
static __thread uint64_t known_in; /* the generation of what is known; 0: nothing is */
static uint64_t generation = 1;

typedef int ContextFunction(uintptr_t* context);
typedef int DeviceFunction(int32_t* device);

struct Current ask_current_context(void) {
  static ContextFunction* get_context;
  static DeviceFunction* get_device;
  struct Current now = {0, -1};
  if (unlikely(get_context == NULL || get_device == NULL)) {
    get_device = (DeviceFunction*)driver_function("cuCtxGetDevice");
    get_context = (ContextFunction*)driver_function("cuCtxGetCurrent");
    if (get_context == NULL || get_device == NULL) return now;
  }
  if (get_context(&now.context) != 0) now.context = 0;
  if (now.context == 0 || get_device(&now.device) != 0) now.device = -1;
  current = now;
  known_in = now.context != 0 ? __atomic_load_n(&generation, __ATOMIC_RELAXED) : 0;
  return now;
}

struct Current current_context(void) {
  if (likely(known_in == __atomic_load_n(&generation, __ATOMIC_RELAXED))) return current;
  return ask_current_context();
}

void context_changed(void) { known_in = 0; }
void contexts_changed(void) { __atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED); }
