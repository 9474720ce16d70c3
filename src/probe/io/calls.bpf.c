/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * Follows the calls of a tree of tasks through the kernel: system calls, and below them what file
 * systems, page cache and block devices do for them. What a task has under way and what it did lies
 * in its own storage, which no other CPU touches: nothing is looked up in a shared map, and nothing
 * is lost when the recorder reads. docs/design/0007 says why. */
#include "probe/io/calls_kernel.h"

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "wire/calls.h"

#include "probe/io/calls_state.bpf.h"

#include "probe/io/calls_cells.bpf.h"

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

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs* regs, long number) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct WireTaskCalls* calls = find_calls(task);
  if (!calls) return 0;
  if (is_foreign(task)) {
    __sync_fetch_and_add(&counts.foreign, 1);
    return 0;
  }
  if ((uint64_t)number >= kWireSystemCalls) return 0;
  const volatile struct WireRule* rule = &rules[number];
  calls->depth = 0;
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
  struct task_struct* task = bpf_get_current_task_btf();
  struct WireTaskCalls* calls = bpf_task_storage_get(&followed, task, 0, 0);
  if (!calls || calls->call == 0) return 0; /* a child begins with a return */
  const uint64_t now_ns = bpf_ktime_get_ns();
  const uint32_t number = calls->call - 1;
  calls->call = 0;
  if (number >= kWireSystemCalls || calls->waiting) return 0;
  const volatile struct WireRule* rule = &rules[number];
  struct Done done = {.function = rule->function, .result = result, .offset = -1};
  done.start_ns = calls->start_ns;
  done.duration_ns = now_ns - calls->start_ns;
  done.self_ns = done.duration_ns - calls->inner_ns;
  if (done.self_ns > done.duration_ns) done.self_ns = 0;
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
  if (calls && !calls->waiting) begin_to_follow(child);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task) {
  struct WireTaskCalls* calls = find_calls(task);
  if (!calls) return 0;
  calls->waiting = 0;
  if (calls->tid == (uint32_t)task->pid) return 0;
  /* A thread other than the first has become the first. */
  send_cells(calls, -1U);
  calls->tid = task->pid;
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_end, struct task_struct* task) {
  struct WireTaskCalls* calls = bpf_task_storage_get(&followed, task, 0, 0);
  if (!calls) return 0;
  calls->ended = 1;
  send_cells(calls, -1U);
  return 0;
}

#include "probe/io/calls_layers.bpf.h"

#include "probe/io/calls_requests.bpf.h"

#include "probe/io/calls_vfs.bpf.h"

/* Read by the recorder: sends what idle tasks have. At the end that is all there is. */
uint32_t send_before_slice = 0;

SEC("iter/task")
int send_idle(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task) return 0;
  struct WireTaskCalls* calls = bpf_task_storage_get(&followed, task, 0, 0);
  if (calls) send_cells(calls, send_before_slice);
  return 0;
}
