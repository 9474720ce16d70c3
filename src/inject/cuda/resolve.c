/* SPDX-License-Identifier: Apache-2.0
 * Which wrapper stands before which function of the driver. Functions are known by their address:
 * what cuGetProcAddress answers is compared with what libcuda exports, whatever the rules of
 * versions are. Where that does not help, the list's versions decide. */
#include <link.h>
#include <string.h>

#include "inject/core/real.h"
#include "inject/cuda/driver.h"
#include "inject/cuda/unknown.h"

enum { kPerThreadStream = 2 /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */ };
CALL_SITE(not_wrapped);

static const struct link_map* library; /* libcuda */

typedef void* DlsymFunction(void* handle, const char* name);
DlsymFunction* fathom_find_dlsym(void) __attribute__((visibility("hidden"))); /* lookup.c */

/* A library whose tables we cannot read is looked into by the loader, to which it is a handle. */
static void* function_of(const struct link_map* map, const char* name) {
  void* found = find_function(map, name);
  if (found != NULL || find_function(map, "cuInit") != NULL) return found;
  return fathom_find_dlsym()((void*)(uintptr_t)map, name);
}

static bool is_libcuda(const char* path) {
  const char* slash = path != NULL ? strrchr(path, '/') : NULL;
  const char* name = slash != NULL ? slash + 1 : path;
  return name != NULL && strncmp(name, "libcuda.so", 10) == 0;
}

static const struct link_map* find_library(void) {
  const struct link_map* known = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
  if (known != NULL) return known;
  const struct link_map* map = _r_debug.r_map;
  while (map != NULL && !is_libcuda(map->l_name)) map = map->l_next;
  if (map == NULL) return NULL;
  for (struct Driver* at = __start_fathom_driver; at != __stop_fathom_driver; ++at) {
    void* real = function_of(map, at->site->name);
    if (real != NULL) __atomic_store_n(&at->real, real, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&library, map, __ATOMIC_RELEASE);
  return map;
}

bool driver_find(struct Driver* driver) {
  (void)find_library();
  return __atomic_load_n(&driver->real, __ATOMIC_ACQUIRE) != NULL;
}

void* driver_function(const char* name) {
  const struct link_map* map = find_library();
  return map != NULL ? function_of(map, name) : NULL;
}

/* A name without its ABI version and per-thread form. */
struct Base {
  size_t length;
  bool per_thread;
};
static struct Base base_of(const char* name) {
  struct Base base = {strlen(name), false};
  const char* end = name + base.length;
  if (base.length > 5 && (memcmp(end - 5, "_ptsz", 5) == 0 || memcmp(end - 5, "_ptds", 5) == 0)) {
    base.per_thread = true;
    base.length -= 5;
    end -= 5;
  }
  if (base.length > 3 && end[-3] == '_' && end[-2] == 'v' && end[-1] >= '2' && end[-1] <= '9')
    base.length -= 3;
  return base;
}

static bool same_base(const struct Driver* driver, const char* name, struct Base wanted) {
  const struct Base base = base_of(driver->site->name);
  return base.length == wanted.length && memcmp(driver->site->name, name, base.length) == 0;
}

static struct Driver* by_address(const char* name, const void* pointer) {
  struct Driver *found = NULL, *any = NULL;
  const struct Base wanted = base_of(name);
  uint32_t count = 0; /* several functions that do nothing may be one */
  for (struct Driver* at = __start_fathom_driver; at != __stop_fathom_driver; ++at) {
    if (at->real != pointer) continue;
    any = at;
    ++count;
    if (same_base(at, name, wanted)) found = at;
  }
  return found != NULL ? found : count == 1 ? any : NULL;
}

static struct Driver* by_name(const char* name) {
  for (struct Driver* at = __start_fathom_driver; at != __stop_fathom_driver; ++at)
    if (strcmp(at->site->name, name) == 0) return at;
  return NULL;
}

/* The newest ABI that a program of this version means and this driver has; there is none per thread
 * where the function does not depend on it. Should the rule err, nothing is lost but a label:
 * functions of one name are wrapped with as many arguments as any of them has. */
static struct Driver* by_version(const char* name, uint32_t version, bool per_thread) {
  struct Driver* best = NULL;
  bool best_form = false;
  const struct Base wanted = base_of(name);
  for (struct Driver* at = __start_fathom_driver; at != __stop_fathom_driver; ++at) {
    if (at->since > version || at->real == NULL || !same_base(at, name, wanted)) continue;
    const bool form = base_of(at->site->name).per_thread == per_thread;
    if (base_of(at->site->name).per_thread && !per_thread) continue;
    if (best == NULL || (form && !best_form) || (form == best_form && at->since > best->since)) {
      best = at;
      best_form = form;
    }
  }
  return best;
}

struct CodeOf {
  ElfW(Addr) base, at;
};
static int has_code(struct dl_phdr_info* info, size_t size, void* data) {
  const struct CodeOf* code = data;
  (void)size;
  if (info->dlpi_addr != code->base) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0 &&
        code->at - code->base - part->p_vaddr < part->p_memsz)
      return 1;
  }
  return 0;
}

/* Of what dlsym finds only the driver's own functions are counted: others may have a name like
 * theirs, and need not be functions. */
static bool is_drivers_function(const char* name, void* pointer) {
  const struct link_map* map = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
  if (map == NULL || function_of(map, name) != pointer) return false;
  struct CodeOf code = {map->l_addr, (ElfW(Addr))pointer};
  return dl_iterate_phdr(has_code, &code) != 0;
}

static void* unknown_wrapper(const char* name, void* pointer, uint32_t version) {
  const bool is_drivers = version != 0 || is_drivers_function(name, pointer);
  void* counted = is_drivers ? unknown_counted(name, pointer) : NULL;
  if (counted != NULL) return counted;
  driver_note(&site_not_wrapped, 0, name, 0);
  return pointer;
}

void* driver_wrapper(const char* name, void* pointer, uint32_t version, uint64_t flags) {
  (void)find_library();
  struct Driver* driver = by_address(name, pointer);
  if (driver == NULL && version == 0) driver = by_name(name);
  if (driver == NULL && version != 0)
    driver = by_version(name, version, (flags & kPerThreadStream) != 0);
  if (driver == NULL) return unknown_wrapper(name, pointer, version);
  if (version == 0 && driver->real != NULL && driver->real != pointer)
    return pointer; /* of another library, which stands before the driver itself */
  __atomic_store_n(&driver->real, pointer, __ATOMIC_RELEASE);
  return driver->wrapper;
}
