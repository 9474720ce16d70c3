/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * Follows a tree of tasks: whoever a followed task forks is followed. The mark is task storage,
 * which the kernel frees with the task, and which costs a task that is not followed one look at a
 * null pointer.
 *
 * An exit is told in two steps. sched_process_exit still sees the address space (since Linux 6.16)
 * and the exit code. The last switch away from the dead task has the final figures: before it, the
 * CPU time since the last tick or switch is missing, which for a short process is nearly all of it.
 */
#include "probe/resources/tasks_kernel.h"

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "wire/tasks.h"

char LICENSE[] SEC("license") = "GPL";

enum {
  kTaskDead = 0x80,
  kSignalGroupExit = 4,
  kFilePages = 0,
  kAnonPages = 1,
  kShmemPages = 3,
  kMostCpus = 1024,
  kKernelThread = 0x200000,
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct WireFollowed);
} followed SEC(".maps");

/* Processes that ran before, by pid: all their threads are followed, listed or not. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, kWireMostAdopted);
  __type(key, int32_t);
  __type(value, uint8_t);
} adopted SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, kWireTaskRingBytes);
} events SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, struct WireExecScratch);
} exec_scratch SEC(".maps");

struct WireTaskCounts counts;
const volatile uint32_t cpu_count = 1;
const volatile uint32_t page_bytes = 4096;
const volatile uint32_t whom = kWireMarked;

/* Other structs are reached through BPF_CORE_READ only: for a pointer that is followed directly the
 * verifier searches all type names of the kernel, several ms a start. */
static __always_inline struct WireFollowed* find_mark(struct task_struct* task) {
  return bpf_task_storage_get(&followed, task, 0, 0);
}

/* The mark of a followed task; one that is followed for its process gets its own now. */
static __always_inline struct WireFollowed* find(struct task_struct* task) {
  struct WireFollowed* mark = find_mark(task);
  if (mark || whom == kWireMarked) return mark;
  int32_t pid = task->tgid;
  if (whom == kWireAdopted && !bpf_map_lookup_elem(&adopted, &pid)) return 0;
  if (task->flags & kKernelThread) return 0;
  return bpf_task_storage_get(&followed, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline void count_drop(void) { __sync_fetch_and_add(&counts.dropped, 1); }

static __always_inline void fill(struct WireTask* record, uint32_t kind, struct task_struct* task,
                                 int32_t other) {
  record->time_ns = bpf_ktime_get_ns();
  record->kind = kind;
  record->pid = task->tgid;
  record->tid = task->pid;
  record->other = other;
  __builtin_memcpy(record->name, task->comm, sizeof(record->name));
}

/* A task has an id in the namespace it was made for, and one in each around that. */
static __always_inline void read_innermost(struct pid* ids, struct upid* to) {
  const char* first = (const char*)ids + bpf_core_field_offset(ids->numbers);
  bpf_probe_read_kernel(to, sizeof(*to), first + BPF_CORE_READ(ids, level) * sizeof(*to));
}

static __always_inline void fill_inner(struct WireFork* record, struct task_struct* task) {
  struct upid own = {}, leaders = {};
  read_innermost(BPF_CORE_READ(task, thread_pid), &own);
  read_innermost(BPF_CORE_READ(task, group_leader, thread_pid), &leaders);
  record->inner_tid = own.nr;
  record->inner_pid = leaders.nr;
  record->pid_namespace = BPF_CORE_READ(own.ns, ns.inum);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child) {
  if (!find(parent)) return 0;
  /* Without a mark the whole branch below this child would go unseen. */
  if (!bpf_task_storage_get(&followed, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE)) count_drop();
  struct WireFork* record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
  if (!record) {
    count_drop();
    return 0;
  }
  /* A thread's parent is its process; CLONE_PARENT makes a process a sibling of its maker. */
  int is_thread = child->tgid == parent->tgid;
  fill(&record->task, kWireFork, child,
       is_thread ? child->tgid : BPF_CORE_READ(child, real_parent, tgid));
  fill_inner(record, child);
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task, int old_tid, struct linux_binprm* binary) {
  struct WireFollowed* mark = find(task);
  if (!mark) return 0;
  if (mark->awaits_exec) {
    mark->awaits_exec = 0;
    mark->wait_ns = task->sched_info.run_delay;
  }
  uint32_t zero = 0;
  struct WireExecScratch* scratch = bpf_map_lookup_elem(&exec_scratch, &zero);
  if (!scratch) return 0;
  fill(&scratch->head.task, kWireExec, task, old_tid);

  long exe_bytes = bpf_probe_read_kernel_str(scratch->text, kWireExeBytes, binary->filename);
  if (exe_bytes < 0) exe_bytes = 0;
  uint32_t args_at = exe_bytes & (2 * kWireExeBytes - 1);
  if (args_at > kWireExeBytes) args_at = kWireExeBytes;

  struct mm_struct* mm = BPF_CORE_READ(task, mm);
  uint64_t from = BPF_CORE_READ(mm, arg_start);
  uint64_t args_bytes = BPF_CORE_READ(mm, arg_end) - from;
  if (args_bytes > kWireArgsBytes - 1) args_bytes = kWireArgsBytes - 1;
  if (bpf_probe_read_user(scratch->text + args_at, args_bytes, (const void*)from) != 0)
    args_bytes = 0;

  scratch->head.exe_bytes = args_at;
  scratch->head.args_bytes = args_bytes;
  uint64_t size = sizeof(scratch->head) + args_at + args_bytes;
  if (size > sizeof(*scratch)) return 0;
  if (bpf_ringbuf_output(&events, scratch, size, BPF_RB_NO_WAKEUP) != 0) count_drop();
  return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct* task, const char* name) {
  if (!find(task)) return 0;
  /* exec renames too, in an address space that has no arguments yet: on_exec tells that one. */
  struct mm_struct* mm = BPF_CORE_READ(task, mm);
  if (!mm || BPF_CORE_READ(mm, arg_end) == 0) return 0;
  struct WireTask* record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
  if (!record) {
    count_drop();
    return 0;
  }
  fill(record, kWireRename, task, 0);
  bpf_probe_read_kernel_str(record->name, sizeof(record->name), name);
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
  return 0;
}

/* The pointer as a plain number, which the verifier lets us reckon with. */
static __always_inline uint64_t number_of(const void* pointer) {
  const void* volatile kept = pointer;
  uint64_t number = 0;
  bpf_probe_read_kernel(&number, sizeof(number), (const void*)&kept);
  return number;
}

/* How far per-CPU memory of `cpu` lies from the address the kernel names it by. A map of ours that
 * is known on both sides tells: kernels without all symbols in kallsyms give no other way. */
static __always_inline int find_distance(uint32_t cpu, uint64_t* distance) {
  uint32_t zero = 0;
  const void* there = bpf_map_lookup_percpu_elem(&exec_scratch, &zero, cpu);
  if (!there) return 0;
  const struct bpf_array* map = (const struct bpf_array*)number_of(&exec_scratch);
  uint64_t name = 0;
  bpf_core_read(&name, sizeof(name), &map->pptrs[0]);
  *distance = number_of(there) - name;
  return 1;
}

static __always_inline int64_t read_part(const int32_t* parts, uint64_t distance) {
  int32_t part = 0;
  bpf_probe_read_kernel(&part, sizeof(part), (const char*)parts + distance);
  return part;
}

/* A percpu_counter is off by up to a batch of pages per CPU until its parts are added. The indices
 * stand here as constants: only then is the place of an element taken from the running kernel's
 * BTF. */
static __always_inline int64_t sum_pages(struct mm_struct* mm) {
  int64_t sum = BPF_CORE_READ(mm, rss_stat[kFilePages].count) +
                BPF_CORE_READ(mm, rss_stat[kAnonPages].count) +
                BPF_CORE_READ(mm, rss_stat[kShmemPages].count);
  const int32_t* file = BPF_CORE_READ(mm, rss_stat[kFilePages].counters);
  const int32_t* anon = BPF_CORE_READ(mm, rss_stat[kAnonPages].counters);
  const int32_t* shmem = BPF_CORE_READ(mm, rss_stat[kShmemPages].counters);
  for (uint32_t cpu = 0; cpu < kMostCpus && cpu < cpu_count; ++cpu) {
    uint64_t distance = 0;
    if (!find_distance(cpu, &distance)) continue;
    sum += read_part(file, distance) + read_part(anon, distance) + read_part(shmem, distance);
  }
  return sum;
}

static __always_inline int64_t resident_pages(struct mm_struct* mm) {
  struct mm_struct___before_6_2* old = (void*)mm;
  if (bpf_core_field_exists(old->rss_stat.count)) {
    return BPF_CORE_READ(old, rss_stat.count[kFilePages].counter) +
           BPF_CORE_READ(old, rss_stat.count[kAnonPages].counter) +
           BPF_CORE_READ(old, rss_stat.count[kShmemPages].counter);
  }
  return sum_pages(mm);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct* task) {
  struct WireFollowed* mark = find(task);
  if (!mark) return 0;
  struct signal_struct* signal = BPF_CORE_READ(task, signal);
  mark->exit_ns = bpf_ktime_get_ns();
  mark->wait_ns = task->sched_info.run_delay - mark->wait_ns;
  mark->exit_code = BPF_CORE_READ(signal, flags) & kSignalGroupExit
                        ? BPF_CORE_READ(signal, group_exit_code)
                        : task->exit_code;
  mark->ends_process = BPF_CORE_READ(signal, live.counter) == 0;
  if (mark->ends_process) {
    /* maxrss also holds the copy of the parent this process was before its exec: only the last
     * resort. */
    struct mm_struct* mm = BPF_CORE_READ(task, mm);
    int64_t pages = BPF_CORE_READ(signal, maxrss);
    if (mm) {
      int64_t now = resident_pages(mm);
      int64_t highest = BPF_CORE_READ(mm, hiwater_rss);
      pages = now > highest ? now : highest;
    }
    mark->peak_rss_bytes = (uint64_t)pages * page_bytes;
  }
  __sync_fetch_and_add(&counts.exits_begun, 1);
  return 0;
}

static __always_inline void fill_usage(struct WireExit* record, struct task_struct* task) {
  record->run_ns = task->se.sum_exec_runtime;
  record->user_ticks_ns = task->utime;
  record->system_ticks_ns = task->stime;
  record->minor_faults = task->min_flt;
  record->major_faults = task->maj_flt;
  record->voluntary_switches = task->nvcsw;
  record->involuntary_switches = task->nivcsw;
  record->read_chars = task->ioac.rchar;
  record->written_chars = task->ioac.wchar;
  record->disk_read_bytes = task->ioac.read_bytes;
  record->disk_written_bytes = task->ioac.write_bytes;
}

static __always_inline int is_dead(struct task_struct* task) {
  struct task_struct___before_5_14* old = (void*)task;
  if (bpf_core_field_exists(old->state)) return (BPF_CORE_READ(old, state) & kTaskDead) != 0;
  return (task->__state & kTaskDead) != 0;
}

/* Runs at every switch on the machine: the first line is all that a living task pays. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct* before) {
  if (!is_dead(before)) return 0;
  struct WireFollowed* mark = find_mark(before);
  if (!mark || mark->exit_ns == 0) return 0;
  struct WireExit* record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
  if (record) {
    fill(&record->task, kWireExit, before, mark->exit_code);
    record->task.time_ns = mark->exit_ns;
    fill_usage(record, before);
    record->wait_ns = mark->wait_ns;
    record->peak_rss_bytes = mark->peak_rss_bytes;
    record->ends_process = mark->ends_process;
    record->reserved = 0;
    bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
  } else {
    count_drop();
  }
  __sync_fetch_and_add(&counts.exits_told, 1);
  return 0;
}
