/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/resources/tasks_loader.h"

#include <errno.h>
#include <string.h>

#include "tasks.lskel.h" /* needs all of the above */

int load_task_programs(struct TaskPrograms* programs, uint32_t cpu_count, uint32_t page_bytes,
                       enum WireWhom whom) {
  struct tasks_bpf* skeleton = tasks_bpf__open();
  if (skeleton == NULL) return ENOMEM;
  skeleton->rodata->cpu_count = cpu_count;
  skeleton->rodata->page_bytes = page_bytes;
  skeleton->rodata->whom = whom;
  const int failed = tasks_bpf__load(skeleton);
  if (failed != 0) {
    tasks_bpf__destroy(skeleton);
    return -failed;
  }
  const struct TaskPrograms loaded = {
      skeleton,
      skeleton->maps.followed.map_fd,
      skeleton->maps.adopted.map_fd,
      skeleton->maps.events.map_fd,
      {skeleton->progs.on_fork.prog_fd, skeleton->progs.on_exec.prog_fd,
       skeleton->progs.on_rename.prog_fd, skeleton->progs.on_exit.prog_fd,
       skeleton->progs.on_switch.prog_fd},
      &skeleton->bss->counts,
  };
  *programs = loaded;
  return 0;
}

int attach_task_programs(struct TaskPrograms* programs) {
  return tasks_bpf__attach(programs->skeleton) == 0 ? 0 : errno;
}

void close_task_programs(struct TaskPrograms* programs) { tasks_bpf__destroy(programs->skeleton); }
