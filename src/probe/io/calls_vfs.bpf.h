/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * The virtual file system, whose functions no tracepoint tells of: by fentry and fexit, where the
 * kernel takes such programs. */
#pragma once

SEC("fentry/vfs_read")
int BPF_PROG(vfs_read_enter, struct file* file) {
  return enter(kVfsRead, BPF_CORE_READ(file, f_inode));
}
SEC("fexit/vfs_read")
int BPF_PROG(vfs_read_exit, struct file* file, char* to, uint64_t count, int64_t* at, long result) {
  return leave(kVfsRead, result, result > 0 ? result : 0);
}

SEC("fentry/vfs_write")
int BPF_PROG(vfs_write_enter, struct file* file) {
  return enter(kVfsWrite, BPF_CORE_READ(file, f_inode));
}
SEC("fexit/vfs_write")
int BPF_PROG(vfs_write_exit, struct file* file, char* from, uint64_t count, int64_t* at,
             long result) {
  return leave(kVfsWrite, result, result > 0 ? result : 0);
}

SEC("fentry/vfs_fsync_range")
int BPF_PROG(vfs_fsync_enter, struct file* file) {
  return enter(kVfsFsync, BPF_CORE_READ(file, f_inode));
}
SEC("fexit/vfs_fsync_range")
int BPF_PROG(vfs_fsync_exit, struct file* file, int64_t from, int64_t to, int data, int result) {
  return leave(kVfsFsync, result, 0);
}

SEC("fentry/vfs_open")
int BPF_PROG(vfs_open_enter, const struct path* path) {
  return enter(kVfsOpen, BPF_CORE_READ(path, dentry, d_inode));
}
SEC("fexit/vfs_open")
int BPF_PROG(vfs_open_exit, const struct path* path, struct file* file, int result) {
  return leave(kVfsOpen, result, 0);
}
