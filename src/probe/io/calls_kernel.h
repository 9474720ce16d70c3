/* SPDX-License-Identifier: Apache-2.0
 * The kernel types calls.bpf.c touches, and of them only the fields it reads: the loader finds the
 * real places from the running kernel's BTF. */
#pragma once

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
  __u32 s_dev;
  unsigned long s_magic;
};

struct hlist_node {
  struct hlist_node* next;
};
struct hlist_head {
  struct hlist_node* first;
};

struct inode {
  struct super_block* i_sb;
  unsigned long i_ino;
  __u32 i_generation;
  struct hlist_head i_dentry;
};

struct qstr {
  const unsigned char* name;
};
struct dentry {
  struct dentry* d_parent;
  struct qstr d_name;
  struct inode* d_inode;
  union {
    struct hlist_node d_alias;
  } d_u;
};

struct vfsmount {
  struct dentry* mnt_root;
};
struct mount {
  struct mount* mnt_parent;
  struct dentry* mnt_mountpoint;
  struct vfsmount mnt;
};
struct path {
  struct vfsmount* mnt;
  struct dentry* dentry;
};

struct file {
  const void* f_op;
  struct inode* f_inode;
  struct path f_path;
  __s64 f_pos;
};
struct kiocb {
  struct file* ki_filp;
};
struct writeback_control {
  long nr_to_write;
};
struct fdtable {
  unsigned int max_fds;
  struct file** fd;
};
struct files_struct {
  struct fdtable* fdt;
};
struct fs_struct {
  struct path root;
  struct path pwd;
};

struct thread_info {
  __u32 status;
};
struct mm_struct {
  unsigned long start_stack;
};
struct thread_struct {
  unsigned long fsbase;
};
struct task_struct {
  struct thread_info thread_info;
  unsigned int flags;
  int pid;
  int tgid;
  struct files_struct* files;
  struct fs_struct* fs;
  struct task_struct* group_leader;
  struct mm_struct* mm;
  struct thread_struct thread;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
  unsigned long di, si, dx, cx, r10, r8, r9, ax, r12, sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
  __u64 regs[31];
};
struct pt_regs {
  __u64 regs[31];
  __u64 sp;
  __u64 orig_x0;
};
#endif

struct address_space {
  struct inode* host;
};
struct folio {
  struct address_space* mapping;
};

struct gendisk {
  char disk_name[32];
};
struct request_queue {
  struct gendisk* disk;
};
typedef struct {
  int counter;
} atomic_t;
struct request {
  struct request_queue* q;
  unsigned int cmd_flags;
  unsigned int __data_len;
  __u64 __sector;
  __u64 start_time_ns;
  atomic_t ref;
};

struct io_kiocb {
  struct file* file;
  __u8 opcode;
};
struct io_uring_cqe {
  __s32 res;
};

struct bpf_iter__task {
  struct task_struct* task;
};

#pragma clang attribute pop
