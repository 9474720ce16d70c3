/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * Maps and settings of calls.bpf.c. */
#pragma once

/* Most followed tasks have one of these, by the address of their kernel stack. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, kWireSlots);
  __type(key, uint32_t);
  __type(value, struct WireTaskCalls);
} slots SEC(".maps");

/* Others, where two would have the same; and one that waits for its program. */
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct WireTaskCalls);
} followed SEC(".maps");

/* Followed tasks that have ended and are still there, by address: their slot, and whether they have
 * it. */
enum { kHasSlot = 1 << 31 };
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1 << 13);
  __type(key, uint64_t);
  __type(value, uint32_t);
} ending SEC(".maps");

/* Processes that ran before, by pid. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 1 << 16);
  __type(key, int32_t);
  __type(value, uint8_t);
} adopted SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, uint32_t);
} watched_cgroup SEC(".maps");

struct Ring {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 12);
};
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, kWireCallCpus);
  __type(key, uint32_t);
  __array(values, struct Ring);
} rings SEC(".maps");

/* For calls with stacks. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, kWireCallCpus);
  __type(key, uint32_t);
  __array(values, struct Ring);
} stack_rings SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, kWireNameRingBytes);
} names SEC(".maps");

/* Numbers of files whose name was told. One that is pushed out gets another number. */
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, kWireFileSlots);
  __type(key, struct WireFileKey);
  __type(value, uint32_t);
} known_files SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, struct WireNameScratch);
} name_scratch SEC(".maps");

/* By the address of what is under way. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1 << 14);
  __type(key, uint64_t);
  __type(value, struct WireRequest);
} requests SEC(".maps");

/* Where the last request of a disk ended. */
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 256);
  __type(key, uint64_t);
  __type(value, uint64_t);
} disk_ends SEC(".maps");

struct WireCallCounts counts;
uint32_t closing; /* of WireClosing */
/* Processes that have a mark from the recorder, and no place yet (kTaskMarked). */
uint32_t marked;
/* Bytes written to each ring since its reader was last woken. */
uint64_t unread[kWireCallCpus];
uint64_t unread_stacks[kWireCallCpus];

const volatile uint32_t whom = kCallsOfMarked;
const volatile uint32_t trace = 0;
const volatile uint32_t with_stacks = 0; /* of traced calls */
const volatile uint32_t with_files = 1;
const volatile uint32_t with_user = 0; /* functions of the program are hooked, too */
const volatile uint32_t anonymous_device = 0;
/* How older kernels differ. */
const volatile uint32_t starts_untold = 0; /* of requests of disks */
const volatile uint32_t plain_answers = 0; /* io_uring's are a number, not a pointer to one */
const volatile uint32_t recorder_pid = 0;
const volatile uint64_t own_mark = 0; /* of calls that our library makes; 0: it is not there */
const volatile uint32_t page_bytes = 4096;
const volatile uint64_t wake_bytes = 1 << 20;
const volatile uint64_t stack_wake_bytes = 1 << 20;
const volatile uint64_t slice_base_ns = 0;
const volatile uint64_t interval_ns = 1000000000;
/* Of calls that are traced. */
const volatile uint64_t least_duration_ns = 0;
const volatile uint64_t least_bytes = 0;
const volatile struct WireRule rules[kWireSystemCalls];

enum { kKernelThread = 0x00200000, kCompatStatus = 2, kMostError = 4095 };

static __always_inline int is_error(int64_t result) {
  return result < 0 && result >= -(int64_t)kMostError;
}
