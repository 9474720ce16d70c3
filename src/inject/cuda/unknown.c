/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/unknown.h"

#include <errno.h>
#include <string.h>

#include "inject/core/files.h"
#include "inject/core/text.h"
#include "inject/cuda/alone.h"
#include "inject/cuda/driver.h"
#include "inject/cuda/process.h"

enum { kMostUnknown = 512, kEntryBytes = 16 /* as unknown.S has them */, kMostName = 104 };
CALL_SITE(only_counted); /* its object is the function's name */

struct Unknown {
  void* real;
  uint64_t count; /* where nobody records */
  uint32_t file;  /* 0: not asked for yet */
  uint32_t length;
  char name[kMostName];
};
static struct Unknown list[kMostUnknown];
static uint32_t list_count; /* those before it do not change any more */

#ifdef __x86_64__
extern char fathom_unknown_entries[] __attribute__((visibility("hidden")));
static struct Gate gate;

static void* find(const char* name, const void* real, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (list[i].real == real && strcmp(list[i].name, name) == 0)
      return fathom_unknown_entries + (size_t)i * kEntryBytes;
  return NULL;
}

static void* add(const char* name, size_t length, void* real) {
  const uint32_t at = list_count;
  void* known = find(name, real, at);
  if (known != NULL || at >= kMostUnknown) return known;
  list[at].real = real;
  list[at].length = (uint32_t)length;
  memcpy(list[at].name, name, length + 1);
  __atomic_store_n(&list_count, at + 1, __ATOMIC_RELEASE);
  return fathom_unknown_entries + (size_t)at * kEntryBytes;
}

void* unknown_counted(const char* name, void* real) {
  const size_t length = strnlen(name, kMostName);
  if (length >= kMostName) return NULL;
  void* entry = find(name, real, __atomic_load_n(&list_count, __ATOMIC_ACQUIRE));
  if (entry != NULL || !gate_enter(&gate)) return entry;
  entry = add(name, length, real);
  gate_leave(&gate);
  return entry;
}
#else
void* unknown_counted(const char* name, void* real) {
  (void)name, (void)real;
  return NULL;
}
#endif

static void count_in_spool(struct Unknown* unknown) {
  uint32_t file = __atomic_load_n(&unknown->file, __ATOMIC_RELAXED);
  if (unlikely(file == 0)) {
    file = file_named(unknown->name, unknown->length);
    __atomic_store_n(&unknown->file, file, __ATOMIC_RELAXED);
  }
  if (file != 0 && fathom_core.trace) (void)call_count(&site_only_counted, file, false);
}

/* What unknown.S asks; says where it goes on. */
__attribute__((visibility("hidden"), used)) void* fathom_count_unknown(uint32_t number) {
  const int error = errno;
  struct Unknown* unknown = &list[number];
  if (fathom_alone)
    alone_count_unknown(&unknown->count);
  else
    count_in_spool(unknown);
  errno = error;
  return unknown->real;
}

void unknown_forget_counts(void) {
  for (uint32_t i = 0; i < kMostUnknown; ++i) __atomic_store_n(&list[i].count, 0, __ATOMIC_RELAXED);
}

void unknown_put_counts(struct Text* text) {
  const uint32_t count = __atomic_load_n(&list_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t calls = __atomic_load_n(&list[i].count, __ATOMIC_RELAXED);
    if (calls == 0) continue;
    put(text, "name:");
    put(text, list[i].name);
    put(text, ",count:");
    put_number(text, calls);
    put(text, ",burst:0\n");
  }
}
