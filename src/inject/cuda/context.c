/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/context.h"

#include "inject/cuda/driver.h"

__thread struct KnownContext fathom_context = {{0, -1}, 0};
HOT_DATA uint64_t fathom_contexts = 1;

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
  fathom_context.current = now;
  fathom_context.generation =
      now.context != 0 ? __atomic_load_n(&fathom_contexts, __ATOMIC_RELAXED) : 0;
  return now;
}

void context_changed(void) {
  fathom_context.generation = 0;
  fathom_thread.quick = THREAD_DETACHED;
}
void contexts_changed(void) {
  __atomic_fetch_add(&fathom_contexts, 1, __ATOMIC_RELAXED);
  nobody_is_quick();
}
