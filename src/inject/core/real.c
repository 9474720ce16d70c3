/* SPDX-License-Identifier: Apache-2.0
 * Finds the functions that ours stand before, all at once: later, somebody may hold the loader's
 * lock and wait for the very thread that would have to look one up. As dlsym(RTLD_NEXT) would, the
 * first library after ours that has the name, in its default version; but without dlsym, which
 * another C library has in another file, and three times as fast. */
#include "inject/core/real.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "inject/core/call.h"

void *fathom_real_vfork, *fathom_real_syscall;
ClockFunction* fathom_vdso_clock;
#ifdef __x86_64__
#define VDSO_CLOCK "__vdso_clock_gettime"
#else
#define VDSO_CLOCK "__kernel_clock_gettime"
#endif
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void*);
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

enum { kHiddenVersion = 0x8000, kWordBits = 8 * sizeof(ElfW(Addr)) };

/* What a library defines. */
struct Library {
  ElfW(Addr) base;
  const char* strings;
  const ElfW(Sym) * symbols;
  const ElfW(Half) * versions; /* may be NULL */
  uint32_t buckets, first, filter_words, filter_shift;
  const ElfW(Addr) * filter;
  const uint32_t *bucket, *chain;
};

/* Stands for what this C library does not have, as its stubs do. */
static long missing(void) {
  errno = ENOSYS;
  return -1;
}

static bool read_library(const struct link_map* map, struct Library* to) {
  const uint32_t* hash = NULL;
  memset(to, 0, sizeof *to);
  to->base = map->l_addr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    /* The loader has made addresses of them; the kernel's own library it has not touched. */
    const ElfW(Addr) at = entry->d_un.d_ptr + (entry->d_un.d_ptr < map->l_addr ? map->l_addr : 0);
    if (entry->d_tag == DT_STRTAB) to->strings = (const char*)at;
    if (entry->d_tag == DT_SYMTAB) to->symbols = (const ElfW(Sym)*)at;
    if (entry->d_tag == DT_VERSYM) to->versions = (const ElfW(Half)*)at;
    if (entry->d_tag == DT_GNU_HASH) hash = (const uint32_t*)at;
  }
  if (hash == NULL || to->strings == NULL || to->symbols == NULL || hash[0] == 0) return false;
  to->buckets = hash[0];
  to->first = hash[1];
  to->filter_words = hash[2];
  to->filter_shift = hash[3];
  to->filter = (const ElfW(Addr)*)(hash + 4);
  to->bucket = (const uint32_t*)(to->filter + to->filter_words);
  to->chain = to->bucket + to->buckets;
  return true;
}

static uint32_t hash_of(const char* name) {
  uint32_t hash = 5381;
  for (; *name != 0; ++name) hash = hash * 33 + (uint8_t)*name;
  return hash;
}

static void* find_in(const struct Library* library, const char* name, uint32_t hash) {
  const ElfW(Addr) word = library->filter[hash / kWordBits & (library->filter_words - 1)];
  const ElfW(Addr) both = (ElfW(Addr))1 << hash % kWordBits |
                          (ElfW(Addr))1 << (hash >> library->filter_shift) % kWordBits;
  if ((word & both) != both) return NULL;
  uint32_t at = library->bucket[hash % library->buckets];
  if (at < library->first) return NULL;
  for (;; ++at) {
    const uint32_t known = library->chain[at - library->first];
    const ElfW(Sym)* symbol = &library->symbols[at];
    if ((known | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
        ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
        (library->versions == NULL || !(library->versions[at] & kHiddenVersion)) &&
        strcmp(library->strings + symbol->st_name, name) == 0)
      return (void*)(library->base + symbol->st_value);
    if (known & 1) return NULL;
  }
}

static const struct link_map* after_ours(void) {
  const struct link_map* map = _r_debug.r_map;
  while (map != NULL && map->l_ld != _DYNAMIC) map = map->l_next;
  return map != NULL ? map->l_next : NULL;
}

void* find_function(const struct link_map* map, const char* name) {
  struct Library library;
  return read_library(map, &library) ? find_in(&library, name, hash_of(name)) : NULL;
}

void* find_next_function(const char* name) {
  void* found = NULL;
  for (const struct link_map* map = after_ours(); map != NULL && found == NULL; map = map->l_next)
    found = find_function(map, name);
  return found;
}

static void find_clock(void) {
  for (const struct link_map* map = _r_debug.r_map; map != NULL && fathom_vdso_clock == NULL;
       map = map->l_next)
    fathom_vdso_clock = (ClockFunction*)find_function(map, VDSO_CLOCK);
}

void find_real_functions(void) {
  find_clock();
  const uint32_t vfork_hash = hash_of("vfork"), syscall_hash = hash_of("syscall");
  for (const struct link_map* map = after_ours(); map != NULL; map = map->l_next) {
    struct Library library;
    if (!read_library(map, &library)) continue;
    for (struct CallSite* site = __start_fathom_calls; site != __stop_fathom_calls; ++site)
      if (site->real == NULL) site->real = find_in(&library, site->name, hash_of(site->name));
    if (fathom_real_vfork == NULL) fathom_real_vfork = find_in(&library, "vfork", vfork_hash);
    if (fathom_real_syscall == NULL)
      fathom_real_syscall = find_in(&library, "syscall", syscall_hash);
  }
  for (struct CallSite* site = __start_fathom_calls; site != __stop_fathom_calls; ++site)
    if (site->real == NULL) site->real = (void*)missing;
  if (fathom_real_syscall == NULL) fathom_real_syscall = (void*)missing;
}

bool at_fork(void (*child)(void)) { return __register_atfork(NULL, NULL, child, NULL) == 0; }
