// SPDX-License-Identifier: Apache-2.0
#include "probe/io/calls_skeleton.h"

#include <bpf/bpf.h>

namespace fathom {

void detach_calls(CallsSkeleton* skeleton) {
  for (int i = 0; i < skeleton->skeleton->prog_cnt; ++i) {
    bpf_link** link = skeleton->skeleton->progs[i].link;
    if (link == &skeleton->links.send_idle || *link == nullptr) continue;
    bpf_link__destroy(*link);
    *link = nullptr;
  }
}

int64_t calls_missed(const CallsSkeleton* skeleton) {
  int64_t sum = 0;
  for (int i = 0; i < skeleton->skeleton->prog_cnt; ++i) {
    // Who enters this one again is itself, by a look at memory that is not there.
    if (*skeleton->skeleton->progs[i].prog == skeleton->progs.page_fault_kernel) continue;
    const int program = bpf_program__fd(*skeleton->skeleton->progs[i].prog);
    bpf_prog_info info{};
    uint32_t size = sizeof info;
    if (program >= 0 && bpf_obj_get_info_by_fd(program, &info, &size) == 0)
      sum += static_cast<int64_t>(info.recursion_misses);
  }
  return sum;
}

}  // namespace fathom
