/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * Follows the calls of a tree of tasks through the kernel: system calls, and below them what file
 * systems, page cache and block devices do for them. What a task has under way and what it did lies
 * in a place of its own, which no other CPU touches: nothing is looked up in a shared map, and
 * nothing is lost when the recorder reads. docs/design/0007 says why. */
#include "probe/io/calls_kernel.h"

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "wire/calls.h"

#include "probe/io/calls_state.bpf.h"

#include "probe/stack_copy.bpf.h"

#include "probe/io/calls_cells.bpf.h"

#include "probe/io/calls_follow.bpf.h"

#include "probe/io/calls_names.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline uint64_t argument(const struct pt_regs* regs, int8_t number) {
#if defined(__TARGET_ARCH_x86)
  switch (number) {
    case 0:
      return regs->di;
    case 1:
      return regs->si;
    case 2:
      return regs->dx;
    case 3:
      return regs->r10;
    case 4:
      return regs->r8;
    case 5:
      return regs->r9;
    default:
      return 0;
  }
#else
  switch (number) {
    case 0:
      return regs->orig_x0;
    case 1:
      return regs->regs[1];
    case 2:
      return regs->regs[2];
    case 3:
      return regs->regs[3];
    case 4:
      return regs->regs[4];
    case 5:
      return regs->regs[5];
    default:
      return 0;
  }
#endif
}

static __always_inline int is_foreign(struct task_struct* task) {
#if defined(__TARGET_ARCH_x86)
  return (task->thread_info.status & kCompatStatus) != 0;
#else
  return 0;
#endif
}

/* Whether our library makes it, in the target (inject/core/raw.h). */
static __always_inline int is_ours(const struct pt_regs* regs) {
#if defined(__TARGET_ARCH_x86)
  return (regs->r12 ^ regs->sp) == own_mark;
#else
  return (regs->regs[19] ^ regs->sp) == own_mark;
#endif
}

/* Whose calls these are, who is running. */
static __always_inline struct task_struct* task_of(const struct WireTaskCalls* calls) {
  return bpf_rdonly_cast ? LOOK_AT(struct task_struct, calls->task) : bpf_get_current_task_btf();
}

/* The file a system call is about, as it returns; `position` is of that file. */
static __always_inline uint32_t file_of(struct WireTaskCalls* calls, struct task_struct* task,
                                        const volatile struct WireRule* rule,
                                        const struct pt_regs* regs, int64_t result,
                                        int64_t* position) {
  if (!with_files) return 0;
  int32_t fd = -1;
  if ((rule->flags & kRuleMakesFd) && result >= 0) {
    fd = (int32_t)result;
  } else if (rule->path_argument >= 0) {
    const uint64_t path = argument(regs, rule->path_argument);
    const int32_t at = rule->at_argument >= 0 ? (int32_t)argument(regs, rule->at_argument) : -1;
    const uint32_t number = path ? number_of_path(calls, path, at) : 0;
    if (number || rule->at_argument < 0) return number;
    fd = at; /* an empty path: the descriptor itself */
  } else if (rule->fd_argument >= 0) {
    fd = (int32_t)argument(regs, rule->fd_argument);
  }
  if (fd < 0) return 0;
  struct file* file = file_at(task, fd);
  if (!file) return 0;
  if (trace && (rule->flags & kRulePosition)) *position = position_of(file);
  return number_of_file(calls, file);
}

/* Before the others, as they are attached in this order: nobody ends unseen. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_end, struct task_struct* task) {
  struct WireTaskCalls* calls = calls_of(task);
  if (!calls) return 0;
  calls->ended = kTaskEnded;
  send_all(calls);
  if (calls->waiting != kTaskMarked) note_end(task, calls);
  return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(on_gone, struct task_struct* task) {
  forget(task);
  return 0;
}

/* Older kernels forget how large a number is that had to be put away: it is cut where it is used.
 */
static __always_inline const volatile struct WireRule* rule_of(uint64_t number) {
  _Static_assert(kWireSystemCalls == 512, "the mask below");
  __asm__ volatile("%0 &= 511" : "+r"(number));
  return &rules[number];
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs* regs, long number) {
  struct WireTaskCalls* calls = calls_at_entry(regs);
  if (!calls) return 0;
  struct task_struct* task = task_of(calls);
  if (is_foreign(task)) {
    __sync_fetch_and_add(&counts.foreign, 1);
    return 0;
  }
  if (own_mark != 0) {
    calls->ours = is_ours(regs);
    if (calls->ours) {
      calls->call = 0;
      return 0;
    }
  }
  if ((uint64_t)number >= kWireSystemCalls) return 0;
  const volatile struct WireRule* rule = rule_of(number);
  calls->depth = with_user ? calls->user_depth : 0;
  if (!(rule->flags & kRuleWanted)) return 0;
  if (calls->waiting && !(rule->flags & kRuleExec)) return 0;
  calls->call = number + 1;
  calls->inner_ns = 0;
  if (rule->flags & kRuleEntryFile) {
    int64_t ignored;
    calls->entry_file = file_of(calls, task, rule, regs, -1, &ignored);
  }
  calls->start_ns = bpf_ktime_get_ns();
  if (rule->flags & kRuleAtEntry) {
    struct Done done = {.function = rule->function, .start_ns = calls->start_ns, .offset = -1};
    calls->call = 0;
    add_call(calls, &done);
  }
  return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs* regs, long result) {
  struct WireTaskCalls* calls = calls_at_return(regs);
  if (!calls) return 0;
  if (calls->call == 0) { /* a child begins with a return */
    if (own_mark != 0) calls->ours = 0;
    return 0;
  }
  struct task_struct* task = task_of(calls);
  const uint64_t now_ns = bpf_ktime_get_ns();
  const uint32_t number = calls->call - 1;
  calls->call = 0;
  if (number >= kWireSystemCalls || calls->waiting) return 0;
  const volatile struct WireRule* rule = rule_of(number);
  struct Done done = {.function = rule->function, .result = result, .offset = -1};
  done.start_ns = calls->start_ns;
  done.duration_ns = now_ns - calls->start_ns;
  done.self_ns = done.duration_ns - calls->inner_ns;
  if (done.self_ns > done.duration_ns) done.self_ns = 0;
  if (with_user && calls->user_depth > 0)
    calls->frames[(calls->user_depth - 1) & (kWireDepth - 1)].inner_ns += done.duration_ns;
  done.failed = is_error(result);
  if ((rule->flags & kRuleBytes) && result > 0) done.bytes = result;
  int64_t position = -1;
  done.file = rule->flags & kRuleEntryFile ? calls->entry_file
                                           : file_of(calls, task, rule, regs, result, &position);
  if (trace && !done.failed) {
    if (rule->offset_argument >= 0) {
      done.offset = argument(regs, rule->offset_argument);
    } else if (position >= result && (rule->flags & kRulePosition)) {
      done.offset = position - result;
    }
  }
  add_call(calls, &done);
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child) {
  struct WireTaskCalls* calls = find_calls(parent);
  if (calls) calls = give_place(parent, calls);
  if (!calls) return 0;
  const uint32_t waiting = calls->waiting;
  struct WireTaskCalls* own = begin_to_follow(child);
  if (own) own->waiting = waiting;
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task) {
  struct WireTaskCalls* calls = find_calls(task);
  if (calls) calls = give_place(task, calls);
  if (!calls) return 0;
  calls->waiting = kTaskBegun;
  calls->user_depth = 0;
  if (calls->tid == (uint32_t)task->pid) return 0;
  /* A thread other than the first has become the first. */
  send_all(calls);
  calls->tid = task->pid;
  return 0;
}

#include "probe/io/calls_layers.bpf.h"

#include "probe/io/calls_requests.bpf.h"

#include "probe/io/calls_hooks.bpf.h"

/* Read by the recorder: sends what idle tasks have. At the end that is all there is. */
uint32_t send_before_slice = 0;

static long send_slot(void* map, const uint32_t* key, struct WireTaskCalls* calls, void* context) {
  if (calls->stack != 0) send_before(calls, send_before_slice);
  return 0;
}

SEC("iter/task")
int send_idle(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task) { /* that was the last */
    bpf_for_each_map_elem(&slots, send_slot, 0, 0);
    if (closing != kCloseNone) bpf_for_each_map_elem(&requests, close_request, 0, 0);
    return 0;
  }
  struct WireTaskCalls* calls = storage_of(task);
  if (calls) send_before(calls, send_before_slice);
  return 0;
}
