/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/stacks/stacks_loader.h"

#include <errno.h>
#include <string.h>

#include "stacks.lskel.h" /* needs all of the above */

int load_stack_programs(struct StackPrograms* programs, uint64_t wake_bytes,
                        uint32_t tree_capacity) {
  struct stacks_bpf* skeleton = stacks_bpf__open();
  if (skeleton == NULL) return ENOMEM;
  skeleton->rodata->wake_bytes = wake_bytes;
  skeleton->rodata->only_tree = tree_capacity != 0;
  skeleton->maps.tree_adopted.max_entries = tree_capacity != 0 ? tree_capacity : 1;
  const int failed = stacks_bpf__load(skeleton);
  if (failed != 0) {
    stacks_bpf__destroy(skeleton);
    return -failed;
  }
  const struct StackPrograms loaded = {
      skeleton,
      skeleton->maps.rings.map_fd,
      skeleton->maps.tree_adopted.map_fd,
      skeleton->progs.on_sample.prog_fd,
      skeleton->progs.on_fork.prog_fd,
      &skeleton->bss->dropped,
      &skeleton->bss->not_followed,
      skeleton->bss->owed,
  };
  *programs = loaded;
  return 0;
}

int follow_stack_tree(struct StackPrograms* programs) {
  return stacks_bpf__on_fork__attach(programs->skeleton) > 0 ? 0 : errno;
}

void close_stack_programs(struct StackPrograms* programs) {
  stacks_bpf__destroy(programs->skeleton);
}
