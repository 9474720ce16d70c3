/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * What begins in one task and ends in another, or in an interrupt: requests of block devices and of
 * io_uring, and the journal's commits. Each goes straight into the ring. */
#pragma once

enum {
  kRequestOperation = 0xff,
  kOperationRead = 0,
  kOperationWrite = 1,
  kOperationFlush = 2,
  kOperationDiscard = 3,
  kSectorShift = 9,
};

/* Whose request it is: 0, it is not of the target. */
static __always_inline int whose(struct WireRequest* request) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct WireTaskCalls* calls = calls_of(task);
  if (calls) {
    request->pid = calls->pid;
    request->tid = calls->tid;
    return !calls->waiting && !calls->ours;
  }
  return whom == kCallsOfEverybody;
}

/* The disk, under its name. */
static __always_inline uint32_t number_of_disk(struct gendisk* disk) {
  struct Named named = {};
  named.key.inode = (uint64_t)disk;
  named.key.device = kWireDiskDevice;
  uint32_t* known = bpf_map_lookup_elem(&known_files, &named.key);
  if (known) return *known;
  struct WireNameScratch* scratch = scratch_here();
  if (!scratch) return 0;
  __builtin_memcpy(scratch->path, "/dev/", 5);
  const long bytes = bpf_probe_read_kernel_str(scratch->path + 5, 32, disk->disk_name);
  if (bytes <= 1 || bytes > 32) return 0;
  named.tail_bytes = bytes + 4;
  return number_of(&named);
}

static __always_inline void put_request(uint64_t key, const struct WireRequest* request) {
  if (bpf_map_update_elem(&requests, &key, request, BPF_ANY) != 0)
    __sync_fetch_and_add(&counts.no_room, 1);
}

/* The kernel refuses to delete where it was interrupted in the same place. */
static __always_inline void take_request(uint64_t key, struct WireRequest* request) {
  request->issue_ns = 0;
  bpf_map_delete_elem(&requests, &key);
}

/* The kernel runs no program in some interrupts, and none within itself: such a completion is not
 * seen. That it happened is known once the kernel has freed or reused the request, but not when,
 * nor whether it failed. */
static __always_inline void add_unseen_end(const struct WireRequest* request, uint64_t issue_ns) {
  __sync_fetch_and_add(&counts.unseen_ends, 1);
  send_one(request->pid, request->tid, request->function, request->file, slice_at(issue_ns),
           kOneUntimed, 0, 0, request->bytes);
}

/* When it was issued, for the one program that ends it; 0: it was not, or has ended. */
static __always_inline uint64_t claim_issued(struct WireRequest* request) {
  return request->issue_ns ? __sync_lock_test_and_set(&request->issue_ns, 0) : 0;
}

/* A write without data has the device flush its cache. */
static __always_inline uint32_t function_of(struct request* rq, uint32_t bytes) {
  const uint32_t operation = BPF_CORE_READ(rq, cmd_flags) & kRequestOperation;
  if (operation == kOperationFlush || (operation == kOperationWrite && bytes == 0))
    return kBlockFlush;
  if (operation == kOperationRead) return kBlockRead;
  if (operation == kOperationWrite) return kBlockWrite;
  return operation == kOperationDiscard ? kBlockDiscard : kBlockOther;
}

/* A request gets its operation; in the context of the task that submits it. */
static __always_inline int start_request(struct request* rq) {
  struct WireRequest request = {};
  const uint64_t key = (uint64_t)rq;
  /* One that was merged into another never completes. One that was issued did, unseen. */
  struct WireRequest* before = bpf_map_lookup_elem(&requests, &key);
  const uint64_t issued = before ? claim_issued(before) : 0;
  if (before && issued != 0) add_unseen_end(before, issued);
  if (!whose(&request)) {
    if (before) take_request(key, before);
    return 0;
  }
  request.start_ns = bpf_ktime_get_ns();
  request.function = function_of(rq, BPF_CORE_READ(rq, __data_len));
  /* The kernel makes one request of several flushes, and issues that one only. */
  if (request.function == kBlockFlush) {
    request.issue_ns = request.start_ns;
    request.kernel_start_ns = BPF_CORE_READ(rq, start_time_ns);
  }
  request.file = number_of_disk(BPF_CORE_READ(rq, q, disk));
  put_request(key, &request);
  return 0;
}
SEC("tp_btf/block_io_start")
int BPF_PROG(block_io_start, struct request* rq) { return start_request(rq); }
/* Before Linux 6.5: only those that wait for their turn; others begin as they are issued. */
SEC("tp_btf/block_rq_insert")
int BPF_PROG(block_rq_insert, struct request* rq) { return start_request(rq); }

static __always_inline void tell_order(struct request* rq, const struct WireRequest* request) {
  if (request->function != kBlockRead && request->function != kBlockWrite) return;
  const uint64_t disk = (uint64_t)BPF_CORE_READ(rq, q, disk);
  const uint64_t from = BPF_CORE_READ(rq, __sector);
  const uint64_t to = from + (request->bytes >> kSectorShift);
  const uint64_t* end = bpf_map_lookup_elem(&disk_ends, &disk);
  struct Done done = {.start_ns = request->issue_ns, .bytes = request->bytes};
  done.function = end && *end == from ? kBlockSequential : kBlockRandom;
  done.result = done.bytes;
  bpf_map_update_elem(&disk_ends, &disk, &to, BPF_ANY);
  add_request(request, &done);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue, struct request* rq) {
  const uint64_t key = (uint64_t)rq;
  struct WireRequest* request = bpf_map_lookup_elem(&requests, &key);
  if (!request && starts_untold) {
    start_request(rq);
    request = bpf_map_lookup_elem(&requests, &key);
  }
  if (!request || request->issue_ns != 0) return 0;
  request->issue_ns = bpf_ktime_get_ns();
  request->kernel_start_ns = BPF_CORE_READ(rq, start_time_ns);
  request->bytes = BPF_CORE_READ(rq, __data_len);
  request->function = function_of(rq, request->bytes);
  struct Done done = {.function = kBlockQueue, .start_ns = request->start_ns};
  done.duration_ns = request->issue_ns - request->start_ns;
  done.bytes = request->bytes;
  done.result = done.bytes;
  add_request(request, &done);
  tell_order(rq, request);
  return 0;
}

/* `bytes` of it: a device may complete a request in parts. */
static __always_inline int completed(struct request* rq, uint8_t status, uint32_t bytes) {
  const uint64_t key = (uint64_t)rq;
  struct WireRequest* request = bpf_map_lookup_elem(&requests, &key);
  if (!request) return 0;
  if (status == 0 && bytes < request->bytes - request->done_bytes) {
    request->done_bytes += bytes;
    return 0;
  }
  const uint64_t issued = claim_issued(request);
  if (issued != 0) {
    struct Done done = {.function = request->function, .start_ns = issued};
    done.duration_ns = bpf_ktime_get_ns() - issued;
    done.failed = status != 0;
    done.bytes = done.failed ? 0 : request->bytes;
    done.result = done.failed ? -5 : (int64_t)done.bytes;
    add_request(request, &done);
  }
  take_request(key, request);
  return 0;
}
SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_rq_complete, struct request* rq, uint8_t status, uint32_t bytes) {
  return completed(rq, status, bytes);
}
/* Some complete without the other tracepoint. */
SEC("tp_btf/block_io_done")
int BPF_PROG(block_io_done, struct request* rq) { return completed(rq, 0, -1U); }

/* As a recording ends, for each that is still known: while programs are attached, whether it has
 * completed unseen; afterwards it was in flight. */
static long close_request(void* map, const uint64_t* key, struct WireRequest* request,
                          void* context) {
  if (request->issue_ns == 0) return 0; /* never issued, or not of a disk */
  if (closing == kCloseInFlight) {
    __sync_fetch_and_add(&counts.in_flight, 1);
    return 0;
  }
  const struct request* rq = (const struct request*)*key;
  if (BPF_CORE_READ(rq, ref.counter) != 0 &&
      BPF_CORE_READ(rq, start_time_ns) == request->kernel_start_ns)
    return 0;
  const uint64_t issued = claim_issued(request);
  if (issued != 0) add_unseen_end(request, issued);
  return 0;
}

static __always_inline int merged(void) {
  struct WireRequest request = {};
  if (!whose(&request)) return 0;
  struct Done done = {.function = kBlockMerge, .start_ns = bpf_ktime_get_ns()};
  add_request(&request, &done);
  return 0;
}
SEC("tp_btf/block_bio_backmerge")
int BPF_PROG(block_bio_backmerge) { return merged(); }
SEC("tp_btf/block_bio_frontmerge")
int BPF_PROG(block_bio_frontmerge) { return merged(); }

/* The journal is everybody's. */
SEC("tp_btf/jbd2_start_commit")
int BPF_PROG(jbd2_start_commit, void* journal) {
  const uint64_t key = (uint64_t)journal;
  struct WireRequest request = {.start_ns = bpf_ktime_get_ns()};
  put_request(key, &request);
  return 0;
}
SEC("tp_btf/jbd2_end_commit")
int BPF_PROG(jbd2_end_commit, void* journal) {
  const uint64_t key = (uint64_t)journal;
  struct WireRequest* request = bpf_map_lookup_elem(&requests, &key);
  if (!request) return 0;
  struct Done done = {.function = kJournalCommit, .start_ns = request->start_ns};
  done.duration_ns = bpf_ktime_get_ns() - request->start_ns;
  add_request(request, &done);
  take_request(key, request);
  return 0;
}

/* Submitted by a task, or for it by a thread of the kernel that shares its process. */
static __always_inline int submitted(struct io_kiocb* asked) {
  struct WireRequest request = {};
  if (!whose(&request)) return 0;
  request.function = kUringFirst + (BPF_CORE_READ(asked, opcode) & 127);
  request.start_ns = bpf_ktime_get_ns();
  const uint64_t key = (uint64_t)asked;
  put_request(key, &request);
  return 0;
}
SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(io_uring_submit_req, struct io_kiocb* asked) { return submitted(asked); }
SEC("tp_btf/io_uring_submit_sqe") /* before Linux 6.3 */
int BPF_PROG(io_uring_submit_sqe, struct io_kiocb* asked) { return submitted(asked); }

static __always_inline int answered(struct io_kiocb* asked, int64_t result) {
  const uint64_t key = (uint64_t)asked;
  struct WireRequest* request = bpf_map_lookup_elem(&requests, &key);
  if (!request) return 0;
  /* It was not known yet when it was submitted. */
  struct file* file = BPF_CORE_READ(asked, file);
  if (file && with_files) request->file = number_of_any_file(file);
  struct Done done = {.function = request->function, .start_ns = request->start_ns};
  done.duration_ns = bpf_ktime_get_ns() - request->start_ns;
  done.result = result;
  done.failed = done.result < 0;
  done.bytes = done.failed ? 0 : done.result;
  add_request(request, &done);
  take_request(key, request);
  return 0;
}

SEC("tp_btf/io_uring_complete")
int io_uring_complete(uint64_t* context) {
  struct io_kiocb* asked = (struct io_kiocb*)context[1];
  if (plain_answers) return answered(asked, (int32_t)context[3]);
  return answered(asked, BPF_CORE_READ((struct io_uring_cqe*)context[2], res));
}

/* Content of a file on its way to storage: mostly by a thread of the kernel, on behalf of whoever
 * wrote. Such a one counts where the file is known from the target, and is nobody's. */
enum { kWritebackContent = 1, kWritebackMeta = 2 }; /* of an inode, which is aligned */

static __always_inline int write_back(struct inode* inode, uint64_t part) {
  struct WireRequest request = {};
  struct Named named = {};
  key_of_inode(inode, &named.key);
  if (!whose(&request) && !bpf_map_lookup_elem(&known_files, &named.key)) return 0;
  if (with_files && name_inode(inode, &named)) request.file = number_of(&named);
  request.start_ns = bpf_ktime_get_ns();
  request.function = part == kWritebackContent ? kWritebackInode : kWritebackMetadata;
  const uint64_t key = (uint64_t)inode + part;
  put_request(key, &request);
  return 0;
}
static __always_inline int written_back(struct inode* inode, uint64_t part, uint64_t bytes) {
  const uint64_t key = (uint64_t)inode + part;
  struct WireRequest* request = bpf_map_lookup_elem(&requests, &key);
  if (!request) return 0;
  struct Done done = {.function = request->function, .start_ns = request->start_ns};
  done.duration_ns = bpf_ktime_get_ns() - request->start_ns;
  done.bytes = bytes;
  done.result = bytes;
  add_request(request, &done);
  take_request(key, request);
  return 0;
}

SEC("tp_btf/writeback_single_inode_start")
int BPF_PROG(writeback_single_inode_start, struct inode* inode) {
  return write_back(inode, kWritebackContent);
}
SEC("tp_btf/writeback_single_inode")
int BPF_PROG(writeback_single_inode, struct inode* inode, struct writeback_control* control,
             unsigned long pages) {
  const uint64_t wrote = pages - BPF_CORE_READ(control, nr_to_write);
  return written_back(inode, kWritebackContent, wrote <= pages ? wrote * page_bytes : 0);
}
SEC("tp_btf/writeback_write_inode_start")
int BPF_PROG(writeback_write_inode_start, struct inode* inode) {
  return write_back(inode, kWritebackMeta);
}
SEC("tp_btf/writeback_write_inode")
int BPF_PROG(writeback_write_inode, struct inode* inode) {
  return written_back(inode, kWritebackMeta, 0);
}
