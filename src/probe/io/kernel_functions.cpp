// SPDX-License-Identifier: Apache-2.0
#include "probe/io/kernel_functions.h"

namespace fathom {
namespace {

constexpr LayerHook kHooks[] = {
    {"vfs", "vfs_read", ""},
    {"vfs", "vfs_write", ""},
    {"vfs", "vfs_iter_read", ""},
    {"vfs", "vfs_iter_write", ""},
    {"vfs", "vfs_open", ""},
    {"vfs", "vfs_fsync_range", ""},
    {"vfs", "vfs_fallocate", ""},
    {"vfs", "vfs_copy_file_range", ""},
    {"vfs", "vfs_statx", ""},
    {"vfs", "vfs_getattr", ""},
    {"vfs", "vfs_unlink", ""},
    {"vfs", "vfs_rename", ""},
    {"vfs", "vfs_mkdir", ""},
    {"vfs", "vfs_rmdir", ""},
    {"vfs", "iterate_dir", ""},
    {"ext4", "ext4_file_read_iter", ""},
    {"ext4", "ext4_file_write_iter", ""},
    {"ext4", "ext4_file_open", ""},
    {"xfs", "xfs_file_read_iter", "xfs_file_buffered_read xfs_file_direct_read"},
    {"xfs", "xfs_file_write_iter", "xfs_file_buffered_write xfs_file_direct_write"},
    {"xfs", "xfs_file_fsync", "xfs_file_fsync"},
    {"xfs", "xfs_file_open", ""},
    {"xfs", "xfs_file_fallocate", ""},
    {"xfs", "xfs_create", "xfs_create"},
    {"xfs", "xfs_remove", "xfs_remove"},
    {"xfs", "xfs_setattr_size", "xfs_setattr"},
    {"xfs", "xfs_vm_writepages", ""},
    {"btrfs", "btrfs_file_read_iter", ""},
    {"btrfs", "btrfs_file_write_iter", ""},
    {"btrfs", "btrfs_sync_file", "btrfs_sync_file"},
    {"btrfs", "btrfs_get_extent", "btrfs_get_extent"},
    {"btrfs", "btrfs_writepages", ""},
    {"btrfs", "btrfs_commit_transaction", "btrfs_transaction_commit"},
    {"tmpfs", "shmem_file_read_iter", ""},
    {"tmpfs", "shmem_file_write_iter", ""},
    {"tmpfs", "shmem_fallocate", ""},
    {"tmpfs", "shmem_unlink", ""},
    {"tmpfs", "shmem_fault", ""},
    {"overlay", "ovl_read_iter", ""},
    {"overlay", "ovl_write_iter", ""},
    {"overlay", "ovl_fsync", ""},
    {"overlay", "ovl_open", ""},
    {"overlay", "ovl_copy_up_flags", ""},
};

}  // namespace

std::span<const LayerHook> layer_hooks() { return kHooks; }

}  // namespace fathom
