/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * Runs at every sample: the user registers and just as much of the user stack as there is, into the
 * ring of the CPU. perf itself copies a fixed size, at most 64 KB; here the length is known before:
 * a main thread's stack ends where the kernel put its arguments, another thread's at its control
 * block, which C libraries lay above it. Unwinding happens in user space. */
#include "probe/stacks/stacks_kernel.h"

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "wire/stacks.h"

#include "probe/stack_copy.bpf.h"
#include "probe/task_tree.bpf.h"

char LICENSE[] SEC("license") = "GPL";

enum {
  kKernelThread = 0x00200000, /* PF_KTHREAD */
};

struct Ring {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 12);
};
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, kWireMostCpus);
  __type(key, uint32_t);
  __array(values, struct Ring);
} rings SEC(".maps");

uint64_t dropped = 0;
uint64_t not_followed = 0; /* tasks of the tree that could not be marked */
/* What dropped samples stood for: the next one of the CPU and the sampler stands for that, too, so
 * that sums are right. */
uint64_t owed[kWireMostCpus * kWireMostSamplers];
const volatile uint32_t only_tree = 0;        /* events are of all tasks: take those of the tree */
const volatile uint64_t wake_bytes = 1 << 20; /* waiting in a ring: then its reader is woken */

struct Job {
  struct bpf_perf_event_data* context;
  void* ring;
  struct WireRegisters* registers;
  uint64_t length;
  uint32_t flags;
  uint32_t in_exec;
};

static __always_inline int take(const struct Job* job, const uint32_t room) {
  struct WireSample* sample = bpf_ringbuf_reserve(job->ring, sizeof(*sample) + room, 0);
  const uint32_t cpu = bpf_get_smp_processor_id();
  const uint32_t sampler = bpf_get_attach_cookie(job->context) % kWireMostSamplers;
  uint64_t* debt = &owed[cpu % kWireMostCpus * kWireMostSamplers + sampler];
  if (!sample) {
    __sync_fetch_and_add(&dropped, 1);
    *debt += job->context->sample_period;
    return 0;
  }
  const uint64_t id = bpf_get_current_pid_tgid();
  sample->time_ns = bpf_ktime_get_ns();
  sample->period = job->context->sample_period + *debt;
  *debt = 0;
  sample->pid = id >> 32;
  sample->tid = (uint32_t)id;
  sample->cpu = cpu;
  sample->sampler = sampler;
  sample->flags = job->flags;
  sample->stack_bytes = 0;
  sample->kernel_frames = 0;
  const long bytes = bpf_get_stack(job->context, sample->kernel, sizeof(sample->kernel), 0);
  if (bytes > 0) sample->kernel_frames = (uint32_t)bytes / sizeof(uint64_t);
  if (job->flags & kWireHasUser) {
    __builtin_memcpy(&sample->registers, job->registers, sizeof(sample->registers));
    copy_stack(sample, job->registers->sp, job->length, room);
    /* Within execve the old stack is gone and the new one is not yet this thread's. */
    if (job->in_exec && (sample->flags & kWireNoMemory))
      sample->flags &= ~(uint32_t)(kWireHasUser | kWireNoMemory);
  }
  const uint64_t waiting = bpf_ringbuf_query(job->ring, BPF_RB_AVAIL_DATA);
  bpf_ringbuf_submit(sample, waiting >= wake_bytes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child) {
  if (!follow_child(parent, child)) __sync_fetch_and_add(&not_followed, 1);
  return 0;
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data* context) {
  struct task_struct* task = (struct task_struct*)bpf_get_current_task_btf();
  if (only_tree && !is_in_tree(task)) return 0;
  const uint32_t cpu = bpf_get_smp_processor_id();
  void* ring = bpf_map_lookup_elem(&rings, &cpu);
  if (!ring) {
    __sync_fetch_and_add(&dropped, 1);
    return 0;
  }
  struct WireRegisters registers = {};
  struct Job job = {context, ring, &registers, 0, 0, BPF_CORE_READ_BITFIELD(task, in_execve)};
  const uint64_t has_stack = BPF_CORE_READ(task, mm, start_stack); /* not yet, early in exec */
  if (!(task->flags & kKernelThread) && has_stack) {
    bpf_probe_read_kernel(&registers, sizeof(registers),
                          (const void*)bpf_task_pt_regs((void*)task));
    if (registers.cs == kUser32Code) {
      job.flags |= kWireIs32Bit;
    } else {
      job.flags |= kWireHasUser;
      job.length = stack_length(task, registers.sp, kWireMostStackBytes);
    }
  }
  /* A ring takes records of fixed size only: the smallest that fits. */
  if (job.length <= 4 << 10) return take(&job, 4 << 10);
  if (job.length <= 8 << 10) return take(&job, 8 << 10);
  if (job.length <= 16 << 10) return take(&job, 16 << 10);
  if (job.length <= 32 << 10) return take(&job, 32 << 10);
  if (job.length <= 64 << 10) return take(&job, 64 << 10);
  if (job.length <= 128 << 10) return take(&job, 128 << 10);
  return take(&job, kWireMostStackBytes);
}
