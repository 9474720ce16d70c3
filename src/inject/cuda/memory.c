/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/memory.h"

#include <string.h>
#include <sys/mman.h>

#include "inject/core/raw.h"
#include "inject/core/text.h"
#include "inject/cuda/context.h"
#include "inject/cuda/driver.h"
#include "inject/cuda/process.h"
#include "inject/cuda/stacks.h"

enum { kSlots = 1 << 18, kFull = kSlots / 8 * 7, kMostNotes = 1000, kLongestNote = 3000 };
CALL_SITE(memory_in_use);
CALL_SITE(memory_leaked);

static struct {
  struct Gate gate;
  uint64_t process; /* whose it is */
  struct Allocation* slots;
  uint32_t used;
  struct MemoryUse use;
} memory;

static uint32_t home_of(uintptr_t key, uint32_t kind) {
  return (uint32_t)(((key >> 4) + kind) * 0x9e3779b97f4a7c15u >> 40) % kSlots;
}

/* False: nothing is kept. */
static bool enter(void) {
  if (!gate_enter(&memory.gate)) return false;
  const uint64_t self = process_number();
  if (memory.slots != NULL && memory.process == self) return true;
  const bool is_child = memory.slots != NULL;
  if (is_child) raw_call(SYS_munmap, (long)memory.slots, kSlots * sizeof *memory.slots, 0, 0, 0, 0);
  const long at = raw_call(SYS_mmap, 0, kSlots * sizeof *memory.slots, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  memory.slots = at < 0 && at > -4096 ? NULL : (struct Allocation*)at;
  memory.used = 0;
  memory.process = self;
  memset(&memory.use, 0, sizeof memory.use);
  if (memory.slots != NULL) return true;
  gate_leave(&memory.gate);
  return false;
}

static struct Allocation* find(uint32_t kind, uintptr_t key) {
  for (uint32_t at = home_of(key, kind);; at = (at + 1) % kSlots) {
    struct Allocation* slot = &memory.slots[at];
    if (slot->kind == kNoMemory) return NULL;
    if (slot->key == key && slot->kind == kind) return slot;
  }
}

static bool insert(const struct Allocation* what) {
  if (memory.used >= kFull) {
    ++memory.use.lost;
    return false;
  }
  uint32_t at = home_of(what->key, what->kind);
  while (memory.slots[at].kind != kNoMemory) at = (at + 1) % kSlots;
  memory.slots[at] = *what;
  ++memory.used;
  return true;
}

/* Moves those back that stand after it only because it was there. */
static void erase(struct Allocation* slot) {
  uint32_t hole = (uint32_t)(slot - memory.slots);
  for (uint32_t at = (hole + 1) % kSlots; memory.slots[at].kind != kNoMemory;
       at = (at + 1) % kSlots) {
    const uint32_t home = home_of(memory.slots[at].key, memory.slots[at].kind);
    if ((at - home) % kSlots < (at - hole) % kSlots) continue;
    memory.slots[hole] = memory.slots[at];
    hole = at;
  }
  memory.slots[hole].kind = kNoMemory;
  --memory.used;
}

static bool is_on_device(uint32_t kind) {
  return kind == kDeviceMemory || kind == kArrayMemory || kind == kPhysicalMemory;
}

static uint32_t index_of(int32_t device) {
  return device < 0 || device >= kMostDevices ? 0 : (uint32_t)device;
}

/* The new sum of its device, and when it became so. */
struct Change {
  uint64_t in_use, ticks;
  uint32_t device;
  bool is_one;
};

static struct Change add(const struct Allocation* what, bool taken) {
  struct Change change = {0, 0, index_of(what->device), is_on_device(what->kind)};
  if (what->kind == kHostMemory) memory.use.pinned += taken ? what->bytes : -what->bytes;
  if (!change.is_one) return change;
  uint64_t* in_use = &memory.use.in_use[change.device];
  uint64_t* peak = &memory.use.peak[change.device];
  *in_use += taken ? what->bytes : -what->bytes;
  if (*in_use > *peak) *peak = *in_use;
  change.in_use = *in_use;
  change.ticks = ticks_now();
  return change;
}

static void note(const struct Change* change) {
  char name[32];
  struct Text text = text_in(name, sizeof name);
  put(&text, "\tdevice=");
  put_number(&text, change->device);
  driver_note(&site_memory_in_use, change->ticks, name, change->in_use);
}

static void leave(const struct Change* change) {
  gate_leave(&memory.gate);
  if (change->is_one) note(change);
}

static void remember(const struct Allocation* what) {
  struct Change change = {0};
  if (!enter()) return;
  struct Allocation* known = find(what->kind, what->key);
  if (known != NULL) { /* freed by a way that we do not see */
    (void)add(known, false);
    erase(known);
  }
  if (insert(what)) change = add(what, true);
  leave(&change);
}

void memory_took_on(int32_t device, enum MemoryKind kind, uintptr_t key, uint64_t bytes,
                    const char* call) {
  const struct Current current = ask_current_context();
  const struct Allocation what = {.key = key,
                                  .bytes = bytes,
                                  .context = current.context,
                                  .device = device >= 0 ? device : current.device,
                                  .kind = (uint16_t)kind,
                                  .references = 1,
                                  .call = call,
                                  .stack = stack_take()};
  if (key != 0) remember(&what);
}

void memory_took(enum MemoryKind kind, uintptr_t key, uint64_t bytes, const char* call) {
  memory_took_on(-1, kind, key, bytes, call);
}

struct Allocation memory_forget(enum MemoryKind kind, uintptr_t key) {
  struct Allocation was = {0};
  struct Change change = {0};
  if (key == 0 || !enter()) return was;
  struct Allocation* known = find(kind, key);
  if (known != NULL) {
    was = *known;
    change = add(&was, false);
    erase(known);
  }
  leave(&change);
  return was;
}

void memory_back(const struct Allocation* was) {
  if (was->kind != kNoMemory) remember(was);
}

/* One reference less; the memory goes with the last. */
static struct Change drop(uintptr_t handle) {
  struct Change change = {0};
  struct Allocation* known = find(kPhysicalMemory, handle);
  if (known == NULL || --known->references > 0) return change;
  const struct Allocation was = *known;
  erase(known);
  return add(&was, false);
}

void memory_released(uintptr_t handle) {
  if (!enter()) return;
  const struct Change change = drop(handle);
  leave(&change);
}

void memory_retained(uintptr_t handle) {
  if (!enter()) return;
  struct Allocation* known = find(kPhysicalMemory, handle);
  if (known != NULL) ++known->references;
  gate_leave(&memory.gate);
}

void memory_mapped(uintptr_t address, uint64_t bytes, uintptr_t handle) {
  if (!enter()) return;
  struct Allocation* known = find(kPhysicalMemory, handle);
  const struct Allocation mapping = {
      .key = address, .bytes = bytes, .of = handle, .kind = kMapping};
  if (known != NULL && find(kMapping, address) == NULL && insert(&mapping)) ++known->references;
  gate_leave(&memory.gate);
}

/* Of a pass over all: what became of the devices is said once, at the end. */
static void leave_all(const struct Change* changes) {
  gate_leave(&memory.gate);
  for (uint32_t i = 0; i < kMostDevices; ++i)
    if (changes[i].is_one) note(&changes[i]);
}

static void unmap(struct Allocation* mapping, struct Change* changes) {
  const uintptr_t handle = mapping->of;
  erase(mapping);
  const struct Change change = drop(handle);
  if (change.is_one) changes[change.device] = change;
}

/* A range may hold several mappings. */
void memory_unmapped(uintptr_t address, uint64_t bytes) {
  struct Change changes[kMostDevices];
  memset(changes, 0, sizeof changes);
  if (!enter()) return;
  struct Allocation* whole = find(kMapping, address);
  if (whole != NULL && whole->bytes >= bytes) {
    unmap(whole, changes);
  } else {
    for (uint32_t i = 0; i < kSlots && memory.used > 0;) {
      if (memory.slots[i].kind == kMapping && memory.slots[i].key - address < bytes)
        unmap(&memory.slots[i], changes); /* and look again: another may have moved here */
      else
        ++i;
    }
  }
  leave_all(changes);
}

void memory_context_gone(uintptr_t context) {
  struct Change changes[kMostDevices];
  memset(changes, 0, sizeof changes);
  if (context == 0 || memory.slots == NULL || !enter()) return;
  for (uint32_t i = 0; i < kSlots && memory.used > 0;) {
    struct Allocation* slot = &memory.slots[i];
    const bool goes = slot->kind == kDeviceMemory || slot->kind == kArrayMemory;
    if (!goes || slot->context != context) {
      ++i;
      continue;
    }
    const struct Allocation was = *slot;
    erase(slot);
    const struct Change change = add(&was, false);
    changes[change.device] = change;
  }
  leave_all(changes);
}

struct MemoryUse memory_use(void) {
  struct MemoryUse use = {0};
  if (memory.slots == NULL || !enter()) return use;
  use = memory.use;
  gate_leave(&memory.gate);
  return use;
}

void memory_note_leaks(void) {
  if (memory.slots == NULL || memory.process != process_number()) return;
  uint32_t noted = 0;
  for (uint32_t i = 0; i < kSlots && memory.used > 0 && noted < kMostNotes; ++i) {
    const struct Allocation* slot = &memory.slots[i];
    if (!is_on_device(slot->kind)) continue;
    char name[kLongestNote];
    struct Text text = text_in(name, sizeof name);
    put(&text, slot->call);
    put(&text, "\tdevice=");
    put_number(&text, index_of(slot->device));
    if (slot->stack != 0) {
      put(&text, "\tstack=");
      put_stack(&text, slot->stack);
    }
    driver_note(&site_memory_leaked, 0, name, slot->bytes);
    ++noted;
  }
}

__attribute__((destructor)) static void at_exit(void) { memory_note_leaks(); }
