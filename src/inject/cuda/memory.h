/* SPDX-License-Identifier: Apache-2.0
 * Memory in use on each device, from what was allocated and given back. Something is forgotten
 * before it is really freed, and remembered again if that failed: else another thread might be
 * given the same address meanwhile. A forked child has none of its parent's. Any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum MemoryKind {
  kNoMemory,
  kDeviceMemory, /* goes with its context */
  kArrayMemory,
  kPhysicalMemory, /* of cuMemCreate: until it is released and unmapped */
  kMapping,
  kHostMemory, /* pinned */
};

struct Allocation {
  uintptr_t key; /* address or handle */
  uint64_t bytes;
  uintptr_t context;
  uintptr_t of; /* of a mapping: the handle */
  int32_t device;
  uint16_t kind, references; /* of physical memory: the program's and mappings */
  const char* call;
  uint32_t stack; /* where it was allocated; 0: not known */
};

enum { kMostDevices = 64 };
struct MemoryUse {
  uint64_t in_use[kMostDevices], peak[kMostDevices];
  uint64_t pinned;
  uint64_t lost; /* allocations for which there was no room */
};

void memory_took(enum MemoryKind kind, uintptr_t key, uint64_t bytes, const char* call);
void memory_took_on(int32_t device, enum MemoryKind kind, uintptr_t key, uint64_t bytes,
                    const char* call);
/* Before a free: what it was, for memory_back if that fails. */
struct Allocation memory_forget(enum MemoryKind kind, uintptr_t key);
void memory_back(const struct Allocation* was);
void memory_retained(uintptr_t handle);
void memory_released(uintptr_t handle);
void memory_mapped(uintptr_t address, uint64_t bytes, uintptr_t handle);
void memory_unmapped(uintptr_t address, uint64_t bytes);
void memory_context_gone(uintptr_t context);
struct MemoryUse memory_use(void);
/* Notes what is left. */
void memory_note_leaks(void);
