// SPDX-License-Identifier: Apache-2.0
#include "probe/io/kernel_layers.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "wire/calls.h"

namespace fathom {
namespace {

// clang-format off
constexpr KernelProgram kPrograms[] = {
    {"on_enter", "sys", "sys_enter", false, 110},
    {"on_exit", "sys", "sys_exit", false, 170},
    {"on_fork", "", "sched_process_fork", false, 900},
    {"on_exec", "", "sched_process_exec", false, 900},
    {"on_end", "", "sched_process_exit", false, 900},
    {"ext4_da_write_begin", "ext4", "ext4_da_write_begin", false, 80},
    {"ext4_da_write_end", "ext4", "ext4_da_write_end", false, 80},
    {"ext4_write_begin", "ext4", "ext4_write_begin", false, 80},
    {"ext4_write_end", "ext4", "ext4_write_end", false, 80},
    {"ext4_sync_file_enter", "ext4", "ext4_sync_file_enter", false, 80},
    {"ext4_sync_file_exit", "ext4", "ext4_sync_file_exit", false, 80},
    {"ext4_truncate_enter", "ext4", "ext4_truncate_enter", false, 80},
    {"ext4_truncate_exit", "ext4", "ext4_truncate_exit", false, 80},
    {"ext4_unlink_enter", "ext4", "ext4_unlink_enter", false, 80},
    {"ext4_unlink_exit", "ext4", "ext4_unlink_exit", false, 80},
    {"ext4_fallocate_enter", "ext4", "ext4_fallocate_enter", false, 80},
    {"ext4_fallocate_exit", "ext4", "ext4_fallocate_exit", false, 80},
    {"ext4_ext_map_blocks_enter", "ext4", "ext4_ext_map_blocks_enter", false, 80},
    {"ext4_ext_map_blocks_exit", "ext4", "ext4_ext_map_blocks_exit", false, 80},
    {"ext4_writepages", "ext4", "ext4_writepages", false, 80},
    {"ext4_writepages_result", "ext4", "ext4_writepages_result", false, 80},
    {"ext4_read_folio", "ext4", "ext4_read_folio", false, 80},
    {"jbd2_handle_start", "jbd2", "jbd2_handle_start", false, 80},
    {"jbd2_handle_stats", "jbd2", "jbd2_handle_stats", false, 80},
    {"jbd2_start_commit", "jbd2", "jbd2_start_commit", false, 80},
    {"jbd2_end_commit", "jbd2", "jbd2_end_commit", false, 80},
    {"mm_filemap_get_pages", "os_cache", "mm_filemap_get_pages", false, 110},
    {"mm_filemap_add_to_page_cache", "os_cache", "mm_filemap_add_to_page_cache", false, 110},
    {"mm_filemap_delete_from_page_cache", "os_cache", "mm_filemap_delete_from_page_cache", false, 110},
    {"mm_filemap_fault", "os_cache", "mm_filemap_fault", false, 110},
    {"mm_filemap_map_pages", "os_cache", "mm_filemap_map_pages", false, 110},
    {"writeback_dirty_folio", "os_cache", "writeback_dirty_folio", false, 110},
    {"balance_dirty_pages", "os_cache", "balance_dirty_pages", false, 110},
    {"page_fault_user", "faults", "page_fault_user", false, 90},
    {"page_fault_kernel", "faults", "page_fault_kernel", false, 90},
    {"block_io_start", "block", "block_io_start", false, 250},
    {"block_rq_issue", "block", "block_rq_issue", false, 250},
    {"block_rq_complete", "block", "block_rq_complete", false, 250},
    {"block_io_done", "block", "block_io_done", false, 50},
    {"block_bio_backmerge", "block", "block_bio_backmerge", false, 250},
    {"block_bio_frontmerge", "block", "block_bio_frontmerge", false, 250},
    {"io_uring_submit_req", "io_uring", "io_uring_submit_req", false, 250},
    {"io_uring_complete", "io_uring", "io_uring_complete", false, 250},
    {"vfs_read_enter", "vfs", "vfs_read", true, 80},
    {"vfs_read_exit", "vfs", "vfs_read", true, 80},
    {"vfs_write_enter", "vfs", "vfs_write", true, 80},
    {"vfs_write_exit", "vfs", "vfs_write", true, 80},
    {"vfs_fsync_enter", "vfs", "vfs_fsync_range", true, 80},
    {"vfs_fsync_exit", "vfs", "vfs_fsync_range", true, 80},
    {"vfs_open_enter", "vfs", "vfs_open", true, 80},
    {"vfs_open_exit", "vfs", "vfs_open", true, 80},
};

struct LayerFunction {
  uint32_t number;
  const char* layer;
  const char* name;
  bool has_bytes, has_time;
};

constexpr LayerFunction kFunctions[] = {
    {kExt4Write, "ext4", "write", true, true},
    {kExt4Sync, "ext4", "sync_file", false, true},
    {kExt4Truncate, "ext4", "truncate", false, true},
    {kExt4Unlink, "ext4", "unlink", false, true},
    {kExt4Allocate, "ext4", "fallocate", false, true},
    {kExt4MapBlocks, "ext4", "map_blocks", false, true},
    {kExt4ReadFolio, "ext4", "read_folio", false, false},
    {kExt4WritePages, "ext4", "writepages", true, true},
    {kJournalHandle, "jbd2", "handle", false, true},
    {kJournalCommit, "jbd2", "commit", false, true},
    {kCacheRead, "os_cache", "read_pages", true, false},
    {kCacheAdd, "os_cache", "add_folio", false, false},
    {kCacheRemove, "os_cache", "remove_folio", false, false},
    {kCacheFault, "os_cache", "fault", false, false},
    {kCacheMap, "os_cache", "map_pages", true, false},
    {kCacheDirty, "os_cache", "dirty_folio", false, false},
    {kCacheThrottle, "os_cache", "throttle", false, false},
    {kFaultUser, "faults", "page_fault_user", false, false},
    {kFaultKernel, "faults", "page_fault_kernel", false, false},
    {kBlockQueue, "block", "queue", false, true},
    {kBlockRead, "block", "read", true, true},
    {kBlockWrite, "block", "write", true, true},
    {kBlockFlush, "block", "flush", false, true},
    {kBlockDiscard, "block", "discard", true, true},
    {kBlockOther, "block", "other", true, true},
    {kBlockMerge, "block", "merge", false, false},
    {kBlockSequential, "block", "sequential", true, false},
    {kBlockRandom, "block", "random", true, false},
    {kVfsRead, "vfs", "vfs_read", true, true},
    {kVfsWrite, "vfs", "vfs_write", true, true},
    {kVfsFsync, "vfs", "vfs_fsync", false, true},
    {kVfsOpen, "vfs", "vfs_open", false, true},
};
// clang-format on

// By number; those with a * move bytes.
constexpr const char* kUringOperations[] = {"nop",
                                            "readv*",
                                            "writev*",
                                            "fsync",
                                            "read_fixed*",
                                            "write_fixed*",
                                            "poll_add",
                                            "poll_remove",
                                            "sync_file_range",
                                            "sendmsg*",
                                            "recvmsg*",
                                            "timeout",
                                            "timeout_remove",
                                            "accept",
                                            "async_cancel",
                                            "link_timeout",
                                            "connect",
                                            "fallocate",
                                            "openat",
                                            "close",
                                            "files_update",
                                            "statx",
                                            "read*",
                                            "write*",
                                            "fadvise",
                                            "madvise",
                                            "send*",
                                            "recv*",
                                            "openat2",
                                            "epoll_ctl",
                                            "splice*",
                                            "provide_buffers",
                                            "remove_buffers",
                                            "tee*",
                                            "shutdown",
                                            "renameat",
                                            "unlinkat",
                                            "mkdirat",
                                            "symlinkat",
                                            "linkat",
                                            "msg_ring",
                                            "fsetxattr",
                                            "setxattr",
                                            "fgetxattr",
                                            "getxattr",
                                            "socket",
                                            "uring_cmd",
                                            "send_zc*",
                                            "sendmsg_zc*",
                                            "read_multishot*",
                                            "waitid",
                                            "futex_wait",
                                            "futex_wake",
                                            "futex_waitv",
                                            "fixed_fd_install",
                                            "ftruncate",
                                            "bind",
                                            "listen",
                                            "recv_zc*",
                                            "epoll_wait",
                                            "readv_fixed*",
                                            "writev_fixed*",
                                            "pipe"};

}  // namespace

std::span<const KernelProgram> kernel_programs() { return kPrograms; }

void name_layer_functions(std::vector<KernelFunction>& functions) {
  for (const LayerFunction& function : kFunctions)
    functions[function.number] = {function.layer, function.name, function.has_bytes,
                                  function.has_time};
  for (uint32_t number = kUringFirst; number <= kUringLast; ++number) {
    const uint32_t operation = number - kUringFirst;
    std::string name = operation < std::size(kUringOperations)
                           ? kUringOperations[operation]
                           : fmt::format("operation_{}", operation);
    const bool moves = name.ends_with('*');
    if (moves) name.pop_back();
    functions[number] = {"io_uring", std::move(name), moves, true};
  }
}

HookState try_hook(const KernelProgram& program) {
  const int type = libbpf_find_vmlinux_btf_id(
      program.hook, program.by_function ? BPF_TRACE_FENTRY : BPF_TRACE_RAW_TP);
  if (type <= 0)
    return {false, program.by_function ? "this kernel has no such function"
                                       : "this kernel has no such tracepoint"};
  if (!program.by_function) return {};
  // The kernel may know the function and refuse programs on functions all the same.
  const bpf_insn nothing[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
                              {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  LIBBPF_OPTS(bpf_prog_load_opts, options);
  options.expected_attach_type = BPF_TRACE_FENTRY;
  options.attach_btf_id = static_cast<uint32_t>(type);
  const Fd loaded(bpf_prog_load(BPF_PROG_TYPE_TRACING, "fathom_try", "GPL", nothing,
                                std::size(nothing), &options));
  if (!loaded.valid())
    return {false, std::string("this kernel takes no programs on functions (") +
                       std::strerror(errno) + ")"};
  const Fd attached(bpf_raw_tracepoint_open(nullptr, loaded.get()));
  if (!attached.valid())
    return {false, std::string("this kernel attaches no programs to functions (") +
                       std::strerror(errno) + ")"};
  return {};
}

std::string kernel_plan(const LayerChoice& layers) {
  std::string text =
      fmt::format("{:<9} {:<34} {:<7} {:>9}  {}\n", "layer", "attached to", "by", "cost", "here");
  for (const KernelProgram& program : kPrograms) {
    const bool always = *program.layer == 0;
    if (!always && !layers.has(program.layer)) continue;
    const HookState state = try_hook(program);
    const char* by = !program.by_function                               ? "tp_btf"
                     : std::string_view(program.program).ends_with("t") ? "fexit"
                                                                        : "fentry";
    text += fmt::format("{:<9} {:<34} {:<7} {:>6} ns  {}\n", always ? "all" : program.layer,
                        program.hook, by, program.cost_ns, state.can ? "yes" : "no: " + state.why);
  }
  return text;
}

}  // namespace fathom
