/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * Who is followed, and where that task's calls lie. The registers a system call came with lie at
 * the top of its task's kernel stack, so that their address tells who calls: a slot is found by it
 * with a multiplication and a load, where the storage of a task takes two calls of helpers. A slot
 * is one task's; who finds it taken has its calls in its storage. */
#pragma once

/* As a number, which the kernel lets one calculate with. */
static __always_inline uint64_t number_of_pointer(const void* pointer) {
  uint64_t value = (uint64_t)pointer;
  __asm__ volatile("%0 = -%0" : "+r"(value));
  return value;
}

static __always_inline uint64_t stack_of(struct task_struct* task) {
  return number_of_pointer((const void*)bpf_task_pt_regs((void*)task));
}

static __always_inline uint32_t place_of_stack(uint64_t stack) {
  return (stack * 0x9e3779b97f4a7c15UL) >> (64 - kWireSlotBits);
}

static __always_inline struct WireTaskCalls* slot_at(uint64_t stack) {
  uint32_t place = place_of_stack(stack);
  return bpf_map_lookup_elem(&slots, &place);
}

/* Whether a task may be followed that is not in its slot. */
static __always_inline int is_elsewhere(const struct WireTaskCalls* slot) {
  return slot->crowded != 0 || *(const volatile uint32_t*)&marked != 0;
}

static __always_inline struct WireTaskCalls* storage_of(struct task_struct* task) {
  return bpf_task_storage_get(&followed, task, 0, 0);
}

/* Also of one that has ended, as long as it is there. 0: it is not followed. */
static __always_inline struct WireTaskCalls* calls_of(struct task_struct* task) {
  const uint64_t stack = stack_of(task);
  struct WireTaskCalls* slot = slot_at(stack);
  if (!slot) return 0;
  if (slot->stack == stack && slot->task == (uint64_t)task) return slot;
  return is_elsewhere(slot) ? storage_of(task) : 0;
}

/* Stacks are used again, perhaps before what had it has been forgotten: it cannot run any more. */
static __always_inline int take_slot(struct WireTaskCalls* slot, uint64_t stack) {
  if (slot->stack != stack)
    return slot->stack == 0 && __sync_val_compare_and_swap(&slot->stack, 0, stack) == 0;
  if (__sync_val_compare_and_swap(&slot->ended, kTaskEnded, kTaskLeaving) != kTaskEnded) return 0;
  if (send_all(slot)) return 1;
  slot->ended = kTaskEnded;
  return 0;
}

static __always_inline struct WireTaskCalls* begin_to_follow(struct task_struct* task) {
  const uint64_t stack = stack_of(task);
  struct WireTaskCalls* slot = slot_at(stack);
  if (!slot) return 0;
  struct WireTaskCalls* calls = slot;
  if (!take_slot(slot, stack)) {
    calls = bpf_task_storage_get(&followed, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!calls) {
      __sync_fetch_and_add(&counts.not_followed, 1);
      return 0;
    }
    __sync_fetch_and_add(&slot->crowded, 1);
  }
  calls->pid = task->tgid;
  calls->tid = task->pid;
  calls->task = (uint64_t)task;
  calls->call = 0;
  calls->waiting = kTaskBegun;
  calls->depth = 0;
  calls->user_depth = 0;
  calls->looking = 0;
  calls->ours = 0;
  calls->ended = kTaskLives;
  return calls;
}

/* One that the recorder marked gets its place when its program begins, or when it starts others:
 * who starts a container's steps goes on waiting. */
static __always_inline struct WireTaskCalls* give_place(struct task_struct* task,
                                                        struct WireTaskCalls* mark) {
  if (mark->waiting != kTaskMarked) return mark;
  const uint32_t call = mark->call;
  const uint64_t start_ns = mark->start_ns, inner_ns = mark->inner_ns;
  const uint32_t entry_file = mark->entry_file;
  mark->waiting = kTaskBegun;
  struct WireTaskCalls* calls = begin_to_follow(task);
  __sync_fetch_and_add(&marked, -1);
  if (!calls) return 0;
  calls->call = call;
  calls->start_ns = start_ns;
  calls->inner_ns = inner_ns;
  calls->entry_file = entry_file;
  calls->waiting = kTaskPlaced;
  return calls;
}

/* The task has ended, and may still close files: its slot stays its own until it is gone. */
static __always_inline void note_end(struct task_struct* task, const struct WireTaskCalls* calls) {
  const uint64_t key = (uint64_t)task;
  uint32_t place = place_of_stack(stack_of(task));
  if (calls->stack != 0) place |= kHasSlot;
  bpf_map_update_elem(&ending, &key, &place, BPF_ANY);
}

static __always_inline void forget(struct task_struct* task) {
  const uint64_t key = (uint64_t)task;
  const uint32_t* known = bpf_map_lookup_elem(&ending, &key);
  if (!known) return;
  const uint32_t value = *known;
  uint32_t place = value & ~kHasSlot;
  bpf_map_delete_elem(&ending, &key);
  struct WireTaskCalls* slot = bpf_map_lookup_elem(&slots, &place);
  if (!slot) return;
  if (!(value & kHasSlot)) {
    __sync_fetch_and_add(&slot->crowded, -1);
    return;
  }
  if (slot->task != key) return;
  if (__sync_val_compare_and_swap(&slot->ended, kTaskEnded, kTaskLeaving) != kTaskEnded) return;
  if (!send_all(slot)) { /* the recorder is at it, and sends them later */
    slot->ended = kTaskEnded;
    return;
  }
  slot->task = 0;
  __sync_lock_test_and_set(&slot->ended, kTaskLives);
  __sync_lock_test_and_set(&slot->stack, 0);
}

/* Those that ran before get their mark at their first call. */
static __noinline int is_of_target(struct task_struct* task) {
  if (whom == kCallsOfCgroup) return bpf_current_task_under_cgroup(&watched_cgroup, 0) == 1;
  int32_t pid = task->tgid;
  if (whom == kCallsOfEverybody) return (uint32_t)pid != recorder_pid;
  return bpf_map_lookup_elem(&adopted, &pid) != 0;
}

static __always_inline struct WireTaskCalls* follow_if_wanted(struct task_struct* task) {
  if (whom == kCallsOfMarked) return 0;
  if (task->flags & kKernelThread) return 0;
  if (!is_of_target(task)) return 0;
  return begin_to_follow(task);
}

static __always_inline struct WireTaskCalls* find_calls(struct task_struct* task) {
  struct WireTaskCalls* calls = calls_of(task);
  return calls ? calls : follow_if_wanted(task);
}

/* Of a system call that begins; most that are not of the target leave it after two comparisons. */
static __always_inline struct WireTaskCalls* calls_at_entry(const struct pt_regs* regs) {
  const uint64_t stack = number_of_pointer(regs);
  struct WireTaskCalls* slot = slot_at(stack);
  if (!slot || (slot->stack == stack && slot->ended == kTaskLives)) return slot;
  if (whom == kCallsOfMarked && !is_elsewhere(slot)) return 0;
  struct task_struct* task = bpf_get_current_task_btf();
  struct WireTaskCalls* calls = is_elsewhere(slot) ? storage_of(task) : 0;
  return calls ? calls : follow_if_wanted(task);
}

static __always_inline struct WireTaskCalls* calls_at_return(const struct pt_regs* regs) {
  const uint64_t stack = number_of_pointer(regs);
  struct WireTaskCalls* slot = slot_at(stack);
  if (!slot || (slot->stack == stack && slot->ended == kTaskLives)) return slot;
  return is_elsewhere(slot) ? storage_of(bpf_get_current_task_btf()) : 0;
}
