/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/stacks/stacks_loader.h"

#include <errno.h>
#include <string.h>

#include "stacks.lskel.h" /* needs all of the above */

int load_stack_programs(struct StackPrograms* programs, uint64_t wake_bytes) {
  struct stacks_bpf* skeleton = stacks_bpf__open();
  if (skeleton == NULL) return ENOMEM;
  skeleton->rodata->wake_bytes = wake_bytes;
  const int failed = stacks_bpf__load(skeleton);
  if (failed != 0) {
    stacks_bpf__destroy(skeleton);
    return -failed;
  }
  const struct StackPrograms loaded = {
      skeleton,
      skeleton->maps.rings.map_fd,
      skeleton->progs.on_sample.prog_fd,
      &skeleton->bss->dropped,
      skeleton->bss->owed,
  };
  *programs = loaded;
  return 0;
}

void close_stack_programs(struct StackPrograms* programs) {
  stacks_bpf__destroy(programs->skeleton);
}
