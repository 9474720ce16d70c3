/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * Follows a tree of tasks: adopted processes with all their threads, and every task that one of
 * them starts afterwards. A started task is marked by task storage, which the kernel frees with the
 * task. For programs whose task_struct has pid and tgid; its size is set by the loader. */
#pragma once

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, uint8_t);
} tree_marks SEC(".maps");

/* By pid. Preallocated, since it is read where memory cannot be allocated. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);
  __type(key, int32_t);
  __type(value, uint8_t);
} tree_adopted SEC(".maps");

static __always_inline int is_in_tree(struct task_struct* task) {
  if (bpf_task_storage_get(&tree_marks, task, 0, 0)) return 1;
  int32_t pid = task->tgid;
  return bpf_map_lookup_elem(&tree_adopted, &pid) != 0;
}

/* At every fork on the machine. Returns 0 if the child could not be marked. */
static __always_inline int follow_child(struct task_struct* parent, struct task_struct* child) {
  int32_t pid = child->pid;
  /* A new process with the pid of an adopted one: that one has ended. */
  if (pid == child->tgid) bpf_map_delete_elem(&tree_adopted, &pid);
  if (!is_in_tree(parent)) return 1;
  return bpf_task_storage_get(&tree_marks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE) != 0;
}
