// SPDX-License-Identifier: Apache-2.0
#include "probe/io/kernel_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "probe/io/hook_plan.h"
#include "wire/calls.h"

namespace fathom {
namespace {

// clang-format off
constexpr KernelProgram kPrograms[] = {
    {"on_enter", "sys", "sys_enter", 110},
    {"on_exit", "sys", "sys_exit", 170},
    {"on_fork", "", "sched_process_fork", 900},
    {"on_exec", "", "sched_process_exec", 900},
    {"on_end", "", "sched_process_exit", 900},
    {"on_gone", "", "sched_process_free", 300},
    {"ext4_da_write_begin", "ext4", "ext4_da_write_begin", 80},
    {"ext4_da_write_end", "ext4", "ext4_da_write_end", 80},
    {"ext4_write_begin", "ext4", "ext4_write_begin", 80},
    {"ext4_write_end", "ext4", "ext4_write_end", 80},
    {"ext4_sync_file_enter", "ext4", "ext4_sync_file_enter", 80},
    {"ext4_sync_file_exit", "ext4", "ext4_sync_file_exit", 80},
    {"ext4_truncate_enter", "ext4", "ext4_truncate_enter", 80},
    {"ext4_truncate_exit", "ext4", "ext4_truncate_exit", 80},
    {"ext4_unlink_enter", "ext4", "ext4_unlink_enter", 80},
    {"ext4_unlink_exit", "ext4", "ext4_unlink_exit", 80},
    {"ext4_fallocate_enter", "ext4", "ext4_fallocate_enter", 80},
    {"ext4_fallocate_exit", "ext4", "ext4_fallocate_exit", 80},
    {"ext4_ext_map_blocks_enter", "ext4", "ext4_ext_map_blocks_enter", 80},
    {"ext4_ext_map_blocks_exit", "ext4", "ext4_ext_map_blocks_exit", 80},
    {"ext4_writepages", "ext4", "ext4_writepages", 80},
    {"ext4_writepages_result", "ext4", "ext4_writepages_result", 80},
    {"ext4_read_folio", "ext4", "ext4_read_folio", 80},
    {"jbd2_handle_start", "jbd2", "jbd2_handle_start", 80},
    {"jbd2_handle_stats", "jbd2", "jbd2_handle_stats", 80},
    {"jbd2_start_commit", "jbd2", "jbd2_start_commit", 80},
    {"jbd2_end_commit", "jbd2", "jbd2_end_commit", 80},
    {"mm_filemap_get_pages", "os_cache", "mm_filemap_get_pages", 110},
    {"mm_filemap_add_to_page_cache", "os_cache", "mm_filemap_add_to_page_cache", 110},
    {"mm_filemap_delete_from_page_cache", "os_cache", "mm_filemap_delete_from_page_cache", 110},
    {"mm_filemap_fault", "os_cache", "mm_filemap_fault", 110},
    {"mm_filemap_map_pages", "os_cache", "mm_filemap_map_pages", 110},
    {"writeback_dirty_folio", "os_cache", "writeback_dirty_folio", 110},
    {"balance_dirty_pages", "os_cache", "balance_dirty_pages", 110},
    {"page_fault_user", "faults", "page_fault_user", 90},
    {"page_fault_kernel", "faults", "page_fault_kernel", 90},
    {"writeback_single_inode_start", "writeback", "writeback_single_inode_start", 250},
    {"writeback_single_inode", "writeback", "writeback_single_inode", 250},
    {"writeback_write_inode_start", "writeback", "writeback_write_inode_start", 250},
    {"writeback_write_inode", "writeback", "writeback_write_inode", 250},
    {"block_io_start", "block", "block_io_start", 250},
    {"block_rq_insert", "block", "block_rq_insert", 250, "block_io_start"},
    {"block_rq_issue", "block", "block_rq_issue", 250},
    {"block_rq_complete", "block", "block_rq_complete", 250},
    {"block_io_done", "block", "block_io_done", 50},
    {"block_bio_backmerge", "block", "block_bio_backmerge", 250},
    {"block_bio_frontmerge", "block", "block_bio_frontmerge", 250},
    {"io_uring_submit_req", "io_uring", "io_uring_submit_req", 250},
    {"io_uring_submit_sqe", "io_uring", "io_uring_submit_sqe", 250, "io_uring_submit_req"},
    {"io_uring_complete", "io_uring", "io_uring_complete", 250},
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
    {kWritebackInode, "writeback", "write_inode_pages", true, true},
    {kWritebackMetadata, "writeback", "write_inode_metadata", false, true},
    {kBlockQueue, "block", "queue", false, true},
    {kBlockRead, "block", "read", true, true},
    {kBlockWrite, "block", "write", true, true},
    {kBlockFlush, "block", "flush", false, true},
    {kBlockDiscard, "block", "discard", true, true},
    {kBlockOther, "block", "other", true, true},
    {kBlockMerge, "block", "merge", false, false},
    {kBlockSequential, "block", "sequential", true, false},
    {kBlockRandom, "block", "random", true, false},
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

bool needs_types(const LayerChoice& layers, const std::vector<Capture>& captures) {
  const auto below = [](const std::string& layer) { return layer != "c" && layer != "sys"; };
  const auto elsewhere = [](const Capture& capture) {
    return capture.kind != Capture::Kind::kSystemCalls;
  };
  return std::any_of(layers.names.begin(), layers.names.end(), below) ||
         std::any_of(captures.begin(), captures.end(), elsewhere);
}

std::vector<const KernelProgram*> wanted_programs(const LayerChoice& layers,
                                                  const KernelTypes* types) {
  const auto has = [types](const char* hook) {
    return types == nullptr || types->tracepoint(hook) != nullptr;
  };
  std::vector<const KernelProgram*> wanted;
  for (const KernelProgram& program : kPrograms) {
    if (*program.layer != 0 && !layers.has(program.layer)) continue;
    if (program.instead_of != nullptr && (!has(program.hook) || has(program.instead_of))) continue;
    const auto stands_in = [&](const KernelProgram& other) {
      return other.instead_of != nullptr && std::string_view(other.instead_of) == program.hook &&
             has(other.hook);
    };
    if (has(program.hook) || std::none_of(std::begin(kPrograms), std::end(kPrograms), stands_in))
      wanted.push_back(&program);
  }
  return wanted;
}

std::string why_no_hook(const KernelProgram& program, const KernelTypes* types) {
  const bool has = types == nullptr || types->tracepoint(program.hook) != nullptr;
  return has ? "" : "this kernel has no such tracepoint";
}

std::set<std::string> hooks_of(const LayerChoice& layers) {
  std::set<std::string> hooks;
  for (const KernelProgram& program : kPrograms)
    if (layers.has(program.layer)) hooks.insert(program.hook);
  return hooks;
}

namespace {

std::string plan_line(std::string_view layer, std::string_view where, std::string_view by,
                      int cost_ns, std::string_view here) {
  return fmt::format("{:<9} {:<34} {:<9} {:>6}  {}\n", layer, where, by,
                     cost_ns > 0 ? fmt::format("{} ns", cost_ns) : "", here);
}

std::string hook_lines(const HookWish& wish, const HookOutcome& outcome) {
  const std::string also =
      wish.also.empty() ? "" : fmt::format(", and not in {}", join(wish.also, ", "));
  std::string text;
  for (const HookSide& side : outcome.sides) {
    const bool own = side.where == wish.name || side.rung == HookRung::kUprobe;
    text += plan_line(wish.layer, side.rung == HookRung::kUprobe ? wish.name : side.where,
                      side_name(side), side_cost_ns(side),
                      "yes" + (own ? "" : ", as " + wish.name) + also);
  }
  if (outcome.sides.empty())
    text += plan_line(wish.layer, wish.name, "", 0, "no: " + outcome.why + also);
  return text;
}

// Where the costs come from.
constexpr std::string_view kCostNote =
    "costs: CPU time each time a program runs for a followed process; tracepoints and uprobes "
    "measured on a virtual machine with 2 CPUs and Linux 6.18 in 2026-11, fentry and kprobe "
    "estimated; bench/io measures this machine\n";

}  // namespace

Result<std::string> kernel_plan(const LayerChoice& layers, const std::vector<Capture>& captures) {
  TRY_ASSIGN(const auto types, KernelTypes::load());
  std::string text = plan_line("layer", "attached to", "by", 0, "here");
  for (const KernelProgram* program : wanted_programs(layers, types.get())) {
    const std::string why = why_no_hook(*program, types.get());
    text += plan_line(*program->layer == 0 ? "all" : program->layer, program->hook, "tp_btf",
                      program->cost_ns, why.empty() ? "yes" : "no: " + why);
  }
  TRY_ASSIGN(const auto wishes, wish_hooks(layers, captures, *types, hooks_of(layers)));
  const auto attacher = try_hooks();
  for (const HookWish& wish : wishes)
    text += hook_lines(wish, attach_best(wish, *types, *attacher));
  return text + std::string(kCostNote);
}

}  // namespace fathom
