/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * What file systems and the page cache do for a task within its system calls: by tracepoints, in
 * pairs where there are two. Nested calls keep their own start. */
#pragma once

static __always_inline struct WireTaskCalls* calls_here(void) {
  struct WireTaskCalls* calls = find_calls(bpf_get_current_task_btf());
  return calls && !calls->waiting && !calls->ours ? calls : 0;
}

static __always_inline void begin(struct WireTaskCalls* calls, uint32_t function, uint32_t file) {
  uint32_t depth = calls->depth;
  if (depth >= kWireDepth) { /* or some were left without a word: begin anew */
    __sync_fetch_and_add(&counts.too_deep, 1);
    depth = 0;
  }
  struct WireFrame* frame = &calls->frames[depth];
  frame->function = function;
  frame->file = file;
  frame->inner_ns = 0;
  frame->start_ns = bpf_ktime_get_ns();
  calls->depth = depth + 1;
}

static __always_inline int enter(uint32_t function, struct inode* inode) {
  struct WireTaskCalls* calls = calls_here();
  if (calls) begin(calls, function, number_of_inode(calls, inode));
  return 0;
}

/* Where the frame of this function is; those above it were left without a word. -1: there is none.
 */
static __always_inline int32_t frame_of(const struct WireTaskCalls* calls, uint32_t function) {
  const uint32_t top = calls->depth - 1;
  if (top < kWireDepth && calls->frames[top].function == function) return (int32_t)top;
  for (int32_t i = kWireDepth - 1; i >= 0; --i) {
    if ((uint32_t)i < calls->depth && calls->frames[i].function == function) return i;
  }
  return -1;
}

/* Ends the call in a frame. A function of its own, which the verifier goes through once and not for
 * each frame that frame_of() may find. */
__noinline int end_frame(struct WireTaskCalls* calls, uint32_t at, int64_t result, uint64_t bytes) {
  if (!calls || at >= kWireDepth) return 0;
  const struct WireFrame* frame = &calls->frames[at];
  struct Done done = {.function = frame->function, .file = frame->file, .offset = -1};
  done.start_ns = frame->start_ns;
  done.duration_ns = bpf_ktime_get_ns() - frame->start_ns;
  done.self_ns = done.duration_ns - frame->inner_ns;
  if (done.self_ns > done.duration_ns) done.self_ns = 0;
  done.failed = is_error(result);
  done.bytes = done.failed ? 0 : bytes;
  done.result = done.failed ? result : (int64_t)done.bytes;
  calls->depth = at;
  if (at > 0) {
    calls->frames[(at - 1) % kWireDepth].inner_ns += done.duration_ns;
  } else {
    calls->inner_ns += done.duration_ns;
  }
  add_call(calls, &done);
  return 0;
}

static __always_inline void end(struct WireTaskCalls* calls, uint32_t function, int64_t result,
                                uint64_t bytes) {
  const int32_t at = frame_of(calls, function);
  if (at >= 0) end_frame(calls, (uint32_t)at, result, bytes);
}

static __always_inline int leave(uint32_t function, int64_t result, uint64_t bytes) {
  struct WireTaskCalls* calls = calls_here();
  if (calls) end(calls, function, result, bytes);
  return 0;
}

/* Something that has no end of its own. */
static __always_inline void add_moment(struct WireTaskCalls* calls, uint32_t function,
                                       uint32_t file, uint64_t bytes) {
  struct Done done = {.function = function, .bytes = bytes, .result = bytes, .offset = -1};
  done.file = file;
  done.start_ns = bpf_ktime_get_ns();
  add_call(calls, &done);
}

static __always_inline int happened(uint32_t function, struct inode* inode, uint64_t bytes) {
  struct WireTaskCalls* calls = calls_here();
  if (calls) add_moment(calls, function, number_of_inode(calls, inode), bytes);
  return 0;
}

SEC("tp_btf/ext4_da_write_begin")
int BPF_PROG(ext4_da_write_begin, struct inode* inode) { return enter(kExt4Write, inode); }
SEC("tp_btf/ext4_write_begin")
int BPF_PROG(ext4_write_begin, struct inode* inode) { return enter(kExt4Write, inode); }
SEC("tp_btf/ext4_da_write_end")
int BPF_PROG(ext4_da_write_end, struct inode* inode, int64_t at, uint32_t length, uint32_t copied) {
  return leave(kExt4Write, 0, copied);
}
SEC("tp_btf/ext4_write_end")
int BPF_PROG(ext4_write_end, struct inode* inode, int64_t at, uint32_t length, uint32_t copied) {
  return leave(kExt4Write, 0, copied);
}

SEC("tp_btf/ext4_sync_file_enter")
int BPF_PROG(ext4_sync_file_enter, struct file* file) {
  return enter(kExt4Sync, BPF_CORE_READ(file, f_inode));
}
SEC("tp_btf/ext4_sync_file_exit")
int BPF_PROG(ext4_sync_file_exit, struct inode* inode, int result) {
  return leave(kExt4Sync, result, 0);
}

SEC("tp_btf/ext4_truncate_enter")
int BPF_PROG(ext4_truncate_enter, struct inode* inode) { return enter(kExt4Truncate, inode); }
SEC("tp_btf/ext4_truncate_exit")
int BPF_PROG(ext4_truncate_exit) { return leave(kExt4Truncate, 0, 0); }

SEC("tp_btf/ext4_unlink_enter")
int BPF_PROG(ext4_unlink_enter, struct inode* folder, struct dentry* dentry) {
  return enter(kExt4Unlink, BPF_CORE_READ(dentry, d_inode));
}
SEC("tp_btf/ext4_unlink_exit")
int BPF_PROG(ext4_unlink_exit, struct dentry* dentry, int result) {
  return leave(kExt4Unlink, result, 0);
}

SEC("tp_btf/ext4_fallocate_enter")
int BPF_PROG(ext4_fallocate_enter, struct inode* inode) { return enter(kExt4Allocate, inode); }
SEC("tp_btf/ext4_fallocate_exit")
int BPF_PROG(ext4_fallocate_exit, struct inode* inode, int64_t at, uint32_t blocks, int result) {
  return leave(kExt4Allocate, result, 0);
}

SEC("tp_btf/ext4_ext_map_blocks_enter")
int BPF_PROG(ext4_ext_map_blocks_enter, struct inode* inode) {
  return enter(kExt4MapBlocks, inode);
}
SEC("tp_btf/ext4_ext_map_blocks_exit")
int BPF_PROG(ext4_ext_map_blocks_exit, struct inode* inode, uint32_t flags, void* map, int result) {
  return leave(kExt4MapBlocks, result, 0);
}

SEC("tp_btf/ext4_writepages")
int BPF_PROG(ext4_writepages, struct inode* inode) { return enter(kExt4WritePages, inode); }
SEC("tp_btf/ext4_writepages_result")
int BPF_PROG(ext4_writepages_result, struct inode* inode, void* control, int result, int pages) {
  return leave(kExt4WritePages, result, pages > 0 ? (uint64_t)pages * page_bytes : 0);
}

SEC("tp_btf/ext4_read_folio")
int BPF_PROG(ext4_read_folio, struct inode* inode) { return happened(kExt4ReadFolio, inode, 0); }

SEC("tp_btf/jbd2_handle_start")
int BPF_PROG(jbd2_handle_start) { return enter(kJournalHandle, 0); }
SEC("tp_btf/jbd2_handle_stats")
int BPF_PROG(jbd2_handle_stats) { return leave(kJournalHandle, 0, 0); }

static __always_inline struct inode* host_of(struct address_space* mapping) {
  return mapping ? BPF_CORE_READ(mapping, host) : 0;
}

SEC("tp_btf/mm_filemap_get_pages")
int BPF_PROG(mm_filemap_get_pages, struct address_space* mapping, uint64_t first, uint64_t last) {
  return happened(kCacheRead, host_of(mapping), (last - first + 1) * page_bytes);
}
SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(mm_filemap_add_to_page_cache, struct folio* folio) {
  return happened(kCacheAdd, host_of(BPF_CORE_READ(folio, mapping)), 0);
}
SEC("tp_btf/mm_filemap_delete_from_page_cache")
int BPF_PROG(mm_filemap_delete_from_page_cache, struct folio* folio) {
  return happened(kCacheRemove, host_of(BPF_CORE_READ(folio, mapping)), 0);
}
SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(mm_filemap_fault, struct address_space* mapping) {
  return happened(kCacheFault, host_of(mapping), 0);
}
SEC("tp_btf/mm_filemap_map_pages")
int BPF_PROG(mm_filemap_map_pages, struct address_space* mapping, uint64_t first, uint64_t last) {
  return happened(kCacheMap, host_of(mapping), (last - first + 1) * page_bytes);
}
SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(writeback_dirty_folio, struct folio* folio, struct address_space* mapping) {
  return happened(kCacheDirty, host_of(mapping), 0);
}
SEC("tp_btf/balance_dirty_pages")
int BPF_PROG(balance_dirty_pages) { return happened(kCacheThrottle, 0, 0); }

SEC("tp_btf/page_fault_user")
int BPF_PROG(page_fault_user) { return happened(kFaultUser, 0, 0); }
/* Reading what is not in memory, as a stack may be, faults as well. */
SEC("tp_btf/page_fault_kernel")
int BPF_PROG(page_fault_kernel) {
  struct WireTaskCalls* calls = calls_here();
  if (calls && !calls->looking) add_moment(calls, kFaultKernel, 0, 0);
  return 0;
}
