/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/names.h"

#include <string.h>
#include <sys/mman.h>

#include "inject/core/raw.h"
#include "inject/cuda/driver.h"
#include "inject/cuda/process.h"

enum {
  kSlots = 65536,
  kFull = kSlots / 4 * 3,
  kLooked = 64,
  kBlockBytes = 1 << 20,
  kLongest = 2048,
};

struct Slot {
  uintptr_t handle; /* 0: empty */
  const struct KernelName* name;
  uint64_t
      asked; /* 0: looked up by the program; else the generation in which the driver was asked */
};
static struct Slot slots[kSlots];
static uint32_t slots_used;
static uint64_t generation = 1;
static struct Gate gate;
uint64_t fathom_names = 1;
static void names_changed(void) {
  __atomic_fetch_add(&fathom_names, 1, __ATOMIC_RELEASE);
  nobody_is_quick();
}

static char* block;
static size_t block_left;

static const char kUnknown[] = "unknown kernel";
static const struct KernelName nameless = {0, {0}};

static uint32_t slot_home(uintptr_t handle) {
  return (uint32_t)((handle >> 4) * 0x9e3779b97f4a7c15u >> 48);
}

static struct Slot* slot_of(uintptr_t handle) {
  for (uint32_t i = 0, at = slot_home(handle); i < kLooked; ++i, at = (at + 1) % kSlots) {
    const uintptr_t known = __atomic_load_n(&slots[at].handle, __ATOMIC_ACQUIRE);
    if (known == handle) return &slots[at];
    if (known == 0) return NULL;
  }
  return NULL;
}

static struct KernelName* new_name(const char* text, size_t length) {
  if (length > kLongest) length = kLongest;
  const size_t bytes = (sizeof(struct KernelName) + length + 7) & ~(size_t)7;
  if (bytes > block_left) {
    const long at = raw_call(SYS_mmap, 0, kBlockBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at < 0 && at > -4096) return NULL;
    block = (char*)at;
    block_left = kBlockBytes;
  }
  struct KernelName* name = (struct KernelName*)block;
  block += bytes;
  block_left -= bytes;
  name->length = (uint32_t)length;
  memcpy(name->text, text, length);
  return name;
}

static void put_slot(uintptr_t handle, const struct KernelName* name, uint64_t asked) {
  struct Slot* slot = slot_of(handle);
  if (slot != NULL) {
    const struct KernelName* before = slot->name;
    const bool is_new =
        before->length != name->length || memcmp(before->text, name->text, name->length) != 0;
    __atomic_store_n(&slot->asked, asked, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->name, name, __ATOMIC_RELEASE);
    if (is_new) names_changed();
    return;
  }
  if (slots_used >= kFull) return;
  for (uint32_t i = 0, at = slot_home(handle); i < kLooked; ++i, at = (at + 1) % kSlots) {
    if (slots[at].handle != 0) continue;
    slots[at].name = name;
    slots[at].asked = asked;
    ++slots_used;
    __atomic_store_n(&slots[at].handle, handle, __ATOMIC_RELEASE);
    return;
  }
}

static const struct KernelName* set(uintptr_t handle, const char* text, size_t length,
                                    uint64_t asked) {
  const struct KernelName* known = name_find(handle);
  if (known != NULL && known->length == length && memcmp(known->text, text, length) == 0)
    return known;
  if (handle == 0 || !gate_enter(&gate)) return NULL;
  const struct KernelName* name = new_name(text, length);
  if (name != NULL) put_slot(handle, name, asked);
  gate_leave(&gate);
  return name;
}

void name_set(uintptr_t handle, const char* text, size_t length) {
  (void)set(handle, text, length, 0);
}

void name_same(uintptr_t handle, uintptr_t as) {
  const struct KernelName* name = name_find(as);
  if (name != NULL) name_set(handle, name->text, name->length);
}

void names_forget_asked(void) {
  __atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
  names_changed();
}

const struct KernelName* name_find(uintptr_t handle) {
  struct Slot* slot = slot_of(handle);
  if (slot == NULL) return NULL;
  const uint64_t asked = __atomic_load_n(&slot->asked, __ATOMIC_RELAXED);
  if (unlikely(asked != 0 && asked != __atomic_load_n(&generation, __ATOMIC_RELAXED))) return NULL;
  return __atomic_load_n(&slot->name, __ATOMIC_ACQUIRE);
}

static const struct KernelName* ask(uintptr_t handle) {
  typedef int NameFunction(const char** name, uintptr_t handle);
  static const char* const kAsked[] = {"cuFuncGetName", "cuKernelGetName"};
  for (int i = 0; i < 2; ++i) {
    NameFunction* function = (NameFunction*)driver_function(kAsked[i]);
    const char* text = NULL;
    if (function == NULL || function(&text, handle) != 0 || text == NULL) continue;
    return set(handle, text, strnlen(text, kLongest),
               __atomic_load_n(&generation, __ATOMIC_RELAXED));
  }
  return set(handle, kUnknown, sizeof kUnknown - 1, __atomic_load_n(&generation, __ATOMIC_RELAXED));
}

const struct KernelName* name_of_kernel(uintptr_t handle) {
  const struct KernelName* name = name_find(handle);
  if (unlikely(name == NULL)) name = ask(handle);
  return name != NULL ? name : &nameless;
}
