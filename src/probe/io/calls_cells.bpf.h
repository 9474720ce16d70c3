/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * Where calls that ended go: into a cell of their task, or straight into the CPU's ring. */
#pragma once

/* A call that ended. */
struct Done {
  uint32_t function;
  uint32_t file;
  uint64_t start_ns, duration_ns, self_ns;
  int64_t result;
  uint64_t bytes;
  int64_t offset;
  uint32_t failed;
};

static __always_inline void* ring_here(uint32_t* cpu) {
  *cpu = bpf_get_smp_processor_id();
  return bpf_map_lookup_elem(&rings, cpu);
}

/* A wake-up costs as much as a hundred calls: one for many. */
static __always_inline uint64_t wake_after(uint64_t* waiting, uint32_t bytes, uint64_t most) {
  *waiting += bytes;
  if (*waiting < most) return BPF_RB_NO_WAKEUP;
  *waiting = 0;
  return BPF_RB_FORCE_WAKEUP;
}

static __always_inline uint64_t wake_flags(uint32_t cpu, uint32_t bytes) {
  return wake_after(&unread[cpu % kWireCallCpus], bytes, wake_bytes);
}

static __always_inline void count_dropped(uint64_t calls) {
  __sync_fetch_and_add(&counts.dropped, calls);
}

static __always_inline void fill_head(struct WireCallHead* head, uint16_t kind, uint32_t function,
                                      uint32_t file, uint32_t pid, uint32_t tid) {
  head->kind = kind;
  head->function = function;
  head->file = file;
  head->pid = pid;
  head->tid = tid;
}

__noinline int send_cell(const struct WireTaskCalls* calls, const struct WireCell* cell) {
  if (!calls || !cell) return 0;
  uint32_t cpu;
  void* ring = ring_here(&cpu);
  struct WireSumOfCalls* record = ring ? bpf_ringbuf_reserve(ring, sizeof(*record), 0) : 0;
  if (!record) {
    count_dropped(cell->count);
    return 0;
  }
  fill_head(&record->head, kWireSumOfCalls, cell->function, cell->file, calls->pid, calls->tid);
  record->slice = cell->slice;
  record->count = cell->count;
  record->errors = cell->errors;
  record->reserved = 0;
  record->time_ns = cell->time_ns;
  record->self_ns = cell->self_ns;
  record->bytes = cell->bytes;
  __builtin_memcpy(record->latency, cell->latency, sizeof(record->latency));
  bpf_ringbuf_submit(record, wake_flags(cpu, sizeof(*record)));
  return 0;
}

/* The same of a cell with a single call, which needs no histogram. */
static __always_inline void send_one(uint32_t pid, uint32_t tid, uint32_t function, uint32_t file,
                                     uint32_t slice, uint32_t flags, uint64_t time_ns,
                                     uint64_t self_ns, uint64_t bytes) {
  uint32_t cpu;
  void* ring = ring_here(&cpu);
  struct WireOneCall* record = ring ? bpf_ringbuf_reserve(ring, sizeof(*record), 0) : 0;
  if (!record) {
    count_dropped(1);
    return;
  }
  fill_head(&record->head, kWireOneCall, function, file, pid, tid);
  record->slice = slice;
  record->flags = flags;
  record->time_ns = time_ns;
  record->self_ns = self_ns;
  record->bytes = bytes;
  bpf_ringbuf_submit(record, wake_flags(cpu, sizeof(*record)));
}

static __always_inline void send_traced(uint32_t pid, uint32_t tid, const struct Done* done) {
  uint32_t cpu;
  void* ring = ring_here(&cpu);
  struct WireTracedCall* record = ring ? bpf_ringbuf_reserve(ring, sizeof(*record), 0) : 0;
  if (!record) {
    count_dropped(1);
    return;
  }
  fill_head(&record->head, kWireTracedCall, done->function, done->file, pid, tid);
  record->start_ns = done->start_ns;
  record->duration_ns = done->duration_ns;
  record->self_ns = done->self_ns;
  record->result = done->result;
  record->offset = done->offset;
  bpf_ringbuf_submit(record, wake_flags(cpu, sizeof(*record)));
}

__noinline int send_batch(struct WireTaskCalls* calls) {
  if (!calls) return 0;
  struct WireTracedBatch* batch = &calls->batch;
  uint64_t count = batch->count;
  batch->count = 0;
  if (count == 0 || count > kWireBatch) return 0;
  batch->kind = kWireTracedCalls;
  batch->pid = calls->pid;
  batch->tid = calls->tid;
  const uint64_t bytes =
      __builtin_offsetof(struct WireTracedBatch, calls) + count * sizeof(batch->calls[0]);
  if (bytes > sizeof(*batch)) return 0; /* older kernels do not see it from the above */
  uint32_t cpu;
  void* ring = ring_here(&cpu);
  batch->count = count;
  if (!ring || bpf_ringbuf_output(ring, batch, bytes, wake_flags(cpu, bytes)) != 0)
    count_dropped(count);
  batch->count = 0;
  return 0;
}

static __always_inline uint32_t slice_of(struct WireTaskCalls* calls, uint64_t start_ns) {
  if (start_ns < calls->slice_end_ns && start_ns >= calls->slice_start_ns) return calls->slice;
  const uint64_t since = start_ns > slice_base_ns ? start_ns - slice_base_ns : 0;
  const uint32_t slice = since / interval_ns;
  calls->slice = slice;
  calls->slice_start_ns = slice_base_ns + slice * interval_ns;
  calls->slice_end_ns = calls->slice_start_ns + interval_ns;
  return slice;
}

static __always_inline uint32_t bucket_of(uint64_t ns) {
  uint32_t bucket = 0;
  if (ns >> 32) {
    bucket = 32;
    ns >>= 32;
  }
  if (ns >> 16) {
    bucket += 16;
    ns >>= 16;
  }
  if (ns >> 8) {
    bucket += 8;
    ns >>= 8;
  }
  if (ns >> 4) {
    bucket += 4;
    ns >>= 4;
  }
  if (ns >> 2) {
    bucket += 2;
    ns >>= 2;
  }
  if (ns >> 1) bucket += 1;
  return bucket < kWireBuckets ? bucket : kWireBuckets - 1;
}

/* Makes a cell free again. */
__noinline int empty_cell(struct WireTaskCalls* calls, struct WireCell* cell) {
  if (!calls || !cell) return 0;
  if (cell->count == 1) {
    send_one(calls->pid, calls->tid, cell->function, cell->file, cell->slice,
             cell->errors ? kOneFailed : 0, cell->time_ns, cell->self_ns, cell->bytes);
  } else if (cell->count > 1) {
    send_cell(calls, cell);
  }
  __builtin_memset(cell, 0, sizeof(*cell));
  return 0;
}

static __always_inline int is_cell_of(const struct WireCell* cell, const struct Done* done,
                                      uint32_t slice) {
  return cell->function == done->function && cell->file == done->file && cell->slice == slice &&
         cell->count < kWireFullCell;
}

static __always_inline struct WireCell* find_cell(struct WireTaskCalls* calls,
                                                  const struct Done* done, uint32_t slice) {
  const uint32_t place = (done->function * 7 + done->file * 13) & (kWireCells - 1);
  struct WireCell* cell = &calls->cells[place];
  if (is_cell_of(cell, done, slice)) return cell;
  struct WireCell* other = &calls->cells[place ^ 1];
  if (is_cell_of(other, done, slice)) return other;
  if (cell->count > 0 && cell->slice == slice &&
      (other->slice != slice || other->count < cell->count))
    cell = other;
  empty_cell(calls, cell);
  cell->function = done->function;
  cell->file = done->file;
  cell->slice = slice;
  return cell;
}

static __always_inline void let_go(struct WireTaskCalls* calls) {
#if defined(__TARGET_ARCH_x86)
  __asm__ volatile("" ::: "memory");
  *(volatile uint32_t*)&calls->busy = 0;
#else
  __sync_lock_test_and_set(&calls->busy, 0);
#endif
}

/* In a record of a size that the kernel knows: the smallest that fits. */
static __always_inline int send_copy(struct WireTaskCalls* calls, const struct Done* done,
                                     struct task_struct* task,
                                     const struct WireRegisters* registers, uint64_t length,
                                     const uint32_t room) {
  uint32_t cpu = bpf_get_smp_processor_id();
  void* ring = bpf_map_lookup_elem(&stack_rings, &cpu);
  struct WireStackedCall* record = ring ? bpf_ringbuf_reserve(ring, sizeof(*record) + room, 0) : 0;
  if (!record) {
    count_dropped(1);
    return 0;
  }
  fill_head(&record->call.head, kWireTracedCall, done->function, done->file, calls->pid,
            calls->tid);
  record->call.start_ns = done->start_ns;
  record->call.duration_ns = done->duration_ns;
  record->call.self_ns = done->self_ns;
  record->call.result = done->result;
  record->call.offset = done->offset;
  struct WireSample* sample = &record->sample;
  sample->time_ns = bpf_ktime_get_ns();
  sample->period = 0;
  sample->pid = calls->pid;
  sample->tid = calls->tid;
  sample->cpu = cpu;
  sample->sampler = 0;
  sample->flags = registers->cs == kUser32Code ? kWireIs32Bit : kWireHasUser;
  sample->stack_bytes = 0;
  sample->kernel_frames = 0;
  /* Of a system call the kernel's part would be the way out of it. */
  if (done->function >= kWireSystemCalls) {
    const long bytes = bpf_get_task_stack(task, sample->kernel, sizeof(sample->kernel), 0);
    if (bytes > 0) sample->kernel_frames = (uint32_t)bytes / sizeof(uint64_t);
  }
  __builtin_memcpy(&sample->registers, registers, sizeof(sample->registers));
  calls->looking = 1;
  if (sample->flags & kWireHasUser) copy_stack(sample, registers->sp, length, room);
  calls->looking = 0;
  bpf_ringbuf_submit(record, wake_after(&unread_stacks[cpu % kWireCallCpus], sizeof(*record) + room,
                                        stack_wake_bytes));
  return 0;
}

__noinline int send_stacked(struct WireTaskCalls* calls, const struct Done* done) {
  if (!calls || !done) return 0;
  struct task_struct* task = bpf_get_current_task_btf();
  struct WireRegisters registers = {};
  bpf_probe_read_kernel(&registers, sizeof(registers), (const void*)bpf_task_pt_regs((void*)task));
  const uint64_t length = stack_length(task, registers.sp, kWireMostCallStack);
  if (length <= 1 << 10) return send_copy(calls, done, task, &registers, length, 1 << 10);
  if (length <= 4 << 10) return send_copy(calls, done, task, &registers, length, 4 << 10);
  if (length <= 16 << 10) return send_copy(calls, done, task, &registers, length, 16 << 10);
  return send_copy(calls, done, task, &registers, length, kWireMostCallStack);
}

/* Whether the filters keep the details of this call. All others are only summed. */
static __always_inline int has_details(const struct Done* done) {
  return trace && done->duration_ns >= least_duration_ns && done->bytes >= least_bytes;
}

/* Many leave together, or each would pay for its room in the ring. */
static __always_inline void add_traced(struct WireTaskCalls* calls, const struct Done* done) {
  if (with_stacks) {
    send_stacked(calls, done);
    return;
  }
  if (calls->ended || __sync_lock_test_and_set(&calls->busy, 1) != 0)
    return send_traced(calls->pid, calls->tid, done);
  const uint32_t at = calls->batch.count;
  struct WireTraced* traced = &calls->batch.calls[at & (kWireBatch - 1)];
  traced->function = done->function;
  traced->file = done->file;
  traced->start_ns = done->start_ns;
  traced->duration_ns = done->duration_ns;
  traced->self_ns = done->self_ns;
  traced->result = done->result;
  traced->offset = done->offset;
  calls->batch.count = at + 1;
  if (at + 1 >= kWireBatch) send_batch(calls);
  let_go(calls);
}

static __always_inline void add_call(struct WireTaskCalls* calls, const struct Done* done) {
  if (has_details(done)) return add_traced(calls, done);
  const uint32_t slice = slice_of(calls, done->start_ns);
  if (calls->ended || __sync_lock_test_and_set(&calls->busy, 1) != 0)
    return send_one(calls->pid, calls->tid, done->function, done->file, slice,
                    done->failed ? kOneFailed : 0, done->duration_ns, done->self_ns, done->bytes);
  struct WireCell* cell = find_cell(calls, done, slice);
  cell->count += 1;
  cell->errors += done->failed;
  cell->time_ns += done->duration_ns;
  cell->self_ns += done->self_ns;
  cell->bytes += done->bytes;
  /* Through memory, which the verifier does not follow: it goes on once, not for each bucket. */
  *(volatile uint32_t*)&calls->bucket = bucket_of(done->duration_ns);
  const uint32_t bucket = *(volatile uint32_t*)&calls->bucket;
  if (bucket < kWireBuckets) cell->latency[bucket] += 1;
  let_go(calls);
}

/* Cells of slices before `before_slice`, and the batch. 0: another CPU is using them. */
static __always_inline int send_before(struct WireTaskCalls* calls, uint32_t before_slice) {
  if (__sync_lock_test_and_set(&calls->busy, 1) != 0) return 0;
  if (trace) send_batch(calls);
  for (uint32_t i = 0; i < kWireCells; ++i) {
    struct WireCell* cell = &calls->cells[i];
    if (cell->count > 0 && cell->slice < before_slice) empty_cell(calls, cell);
  }
  let_go(calls);
  return 1;
}

__noinline int send_all(struct WireTaskCalls* calls) { return calls ? send_before(calls, -1U) : 0; }

static __always_inline uint64_t slice_at(uint64_t time_ns) {
  return (time_ns > slice_base_ns ? time_ns - slice_base_ns : 0) / interval_ns;
}

/* A call that is no longer its task's, or the kernel's own. */
static __always_inline void add_request(const struct WireRequest* request, struct Done* done) {
  done->self_ns = done->duration_ns;
  done->file = request->file;
  done->offset = -1;
  if (has_details(done)) return send_traced(request->pid, request->tid, done);
  send_one(request->pid, request->tid, done->function, done->file, slice_at(done->start_ns),
           done->failed ? kOneFailed : 0, done->duration_ns, done->self_ns, done->bytes);
}
