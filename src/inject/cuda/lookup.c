/* SPDX-License-Identifier: Apache-2.0
 * How programs find the driver's functions at run time: dlsym and cuGetProcAddress. What they get
 * are our wrappers. */
#include "inject/core/real.h"
#include "inject/cuda/driver.h"

typedef void* DlsymFunction(void* handle, const char* name);
__attribute__((visibility("hidden"))) DlsymFunction* fathom_real_dlsym;
extern char __ehdr_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));

static void* nothing_found(void* handle, const char* name) {
  (void)handle, (void)name;
  return NULL;
}

__attribute__((visibility("hidden"))) DlsymFunction* fathom_find_dlsym(void) {
  DlsymFunction* real = (DlsymFunction*)find_next_function("dlsym");
  if (real == NULL) return nothing_found; /* and ask again next time */
  __atomic_store_n(&fathom_real_dlsym, real, __ATOMIC_RELEASE);
  return real;
}

static bool is_ours(const void* pointer) {
  return (const char*)pointer >= __ehdr_start && (const char*)pointer < _end;
}

__attribute__((visibility("hidden"))) void* fathom_driver_dlsym(void* handle, const char* name) {
  enum { kDefault = 0, kNext = -1 }; /* RTLD_DEFAULT, RTLD_NEXT */
  DlsymFunction* real = fathom_real_dlsym != NULL ? fathom_real_dlsym : fathom_find_dlsym();
  const bool anywhere = (intptr_t)handle == kDefault || (intptr_t)handle == kNext;
  void* pointer = anywhere ? find_next_function(name) : real(handle, name);
  if (is_ours(pointer)) pointer = find_next_function(name);
  return pointer != NULL ? driver_wrapper(name, pointer, 0, 0) : NULL;
}

#define REPLACE(version, flags)                                                                \
  do {                                                                                         \
    void** found = (void**)b;                                                                  \
    if (result == 0 && a != 0 && found != NULL && *found != NULL && !is_ours(*found))          \
      *found = driver_wrapper((const char*)a, *found, (uint32_t)(version), (uint64_t)(flags)); \
  } while (0)

/* The answer is replaced also where nothing is recorded, so not with CU. */
#define CU_LOOK_UP(function, since, count)                                                  \
  FATHOM_EXPORT int function P##count;                                                      \
  DRIVER_ENTRY(function, since, kLookUpCall);                                               \
  int function P##count {                                                                   \
    if (unlikely(driver_##function.real == NULL) && !driver_find(&driver_##function))       \
      return kErrorNotFound;                                                                \
    struct DriverCall call;                                                                 \
    driver_begin(&call, &driver_##function);                                                \
    const int result = ((int(*) P##count)driver_##function.real)G##count;                   \
    call_stop(&call.call);                                                                  \
    REPLACE(c, d);                                                                          \
    const struct About about = {0};                                                         \
    if (call.recorded || call.alone) driver_end(&call, &driver_##function, result, &about); \
    return result;                                                                          \
  }
CU_LOOK_UP(cuGetProcAddress, 11030, 5)
CU_LOOK_UP(cuGetProcAddress_v2, 12000, 5)
