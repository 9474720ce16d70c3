/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * Maps and settings of calls.bpf.c, and who is followed. */
#pragma once

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct WireTaskCalls);
} followed SEC(".maps");

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

/* By the address of what is under way; pushed out: never heard of again. */
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
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
/* Bytes written to each ring since its reader was last woken. */
uint64_t unread[kWireCallCpus];

const volatile uint32_t whom = kCallsOfMarked;
const volatile uint32_t trace = 0;
const volatile uint32_t with_files = 1;
const volatile uint32_t anonymous_device = 0;
const volatile uint32_t recorder_pid = 0;
const volatile uint32_t page_bytes = 4096;
const volatile uint64_t wake_bytes = 1 << 20;
const volatile uint64_t slice_base_ns = 0;
const volatile uint64_t interval_ns = 1000000000;
/* Of calls that are traced. */
const volatile uint64_t least_duration_ns = 0;
const volatile uint64_t least_bytes = 0;
const volatile struct WireRule rules[kWireSystemCalls];

enum { kKernelThread = 0x00200000, kCompatStatus = 2, kMostError = 4095 };

static __always_inline struct WireTaskCalls* begin_to_follow(struct task_struct* task) {
  struct WireTaskCalls* calls =
      bpf_task_storage_get(&followed, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!calls) {
    __sync_fetch_and_add(&counts.not_followed, 1);
    return 0;
  }
  calls->pid = task->tgid;
  calls->tid = task->pid;
  return calls;
}

/* Those that ran before get their mark at their first call. */
static __noinline int is_of_target(struct task_struct* task) {
  if (whom == kCallsOfCgroup) return bpf_current_task_under_cgroup(&watched_cgroup, 0) == 1;
  int32_t pid = task->tgid;
  if (whom == kCallsOfEverybody) return (uint32_t)pid != recorder_pid;
  return bpf_map_lookup_elem(&adopted, &pid) != 0;
}

static __always_inline struct WireTaskCalls* find_calls(struct task_struct* task) {
  struct WireTaskCalls* calls = bpf_task_storage_get(&followed, task, 0, 0);
  if (calls || whom == kCallsOfMarked) return calls;
  if (task->flags & kKernelThread) return 0;
  if (!is_of_target(task)) return 0;
  return begin_to_follow(task);
}

static __always_inline int is_error(int64_t result) {
  return result < 0 && result >= -(int64_t)kMostError;
}
