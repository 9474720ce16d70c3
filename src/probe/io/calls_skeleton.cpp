// SPDX-License-Identifier: Apache-2.0
#include "probe/io/calls_skeleton.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <map>
#include <mutex>

namespace fathom {
namespace {

std::mutex templates_mutex;
std::map<const bpf_program*, FunctionTypes> templates;

// libbpf keeps these to itself, and copies of the program need them to have callbacks, and to have
// each function verified once.
int keep_function_types(bpf_program* program, bpf_prog_load_opts* options, long /*cookie*/) {
  FunctionTypes types{
      options->prog_btf_fd, options->func_info_rec_size, options->func_info_cnt, {}};
  const auto* records = static_cast<const std::byte*>(options->func_info);
  types.records.assign(records, records + size_t{types.record_bytes} * types.count);
  const std::lock_guard lock(templates_mutex);
  templates[program] = std::move(types);
  return 0;
}

bool register_templates() {
  LIBBPF_OPTS(libbpf_prog_handler_opts, options, .prog_prepare_load_fn = keep_function_types);
  return libbpf_register_prog_handler("hook/traced", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP,
                                      &options) >= 0 &&
         libbpf_register_prog_handler("hook/registers", BPF_PROG_TYPE_KPROBE,
                                      static_cast<bpf_attach_type>(0), &options) >= 0;
}

}  // namespace

CallsSkeleton* open_calls() {
  static const bool registered = register_templates();
  return registered ? calls_bpf__open() : nullptr;
}

int load_calls(CallsSkeleton* skeleton) {
  // Any tracepoint: the program itself is never attached.
  bpf_program* traced = skeleton->progs.hook_traced;
  if (bpf_program__autoload(traced)) {
    const int failed = bpf_program__set_attach_target(traced, 0, "sched_process_exit");
    if (failed != 0) return failed;
  }
  return calls_bpf__load(skeleton);
}

void close_calls(CallsSkeleton* skeleton) {
  if (skeleton == nullptr) return;
  {
    const std::lock_guard lock(templates_mutex);
    templates.erase(skeleton->progs.hook_traced);
    templates.erase(skeleton->progs.hook_registers);
  }
  calls_bpf__destroy(skeleton);
}

FunctionTypes function_types(const bpf_program* program) {
  const std::lock_guard lock(templates_mutex);
  const auto found = templates.find(program);
  return found == templates.end() ? FunctionTypes{} : found->second;
}

void detach_calls(CallsSkeleton* skeleton) {
  for (int i = 0; i < skeleton->skeleton->prog_cnt; ++i) {
    bpf_link** link = skeleton->skeleton->progs[i].link;
    if (link == &skeleton->links.send_idle || *link == nullptr) continue;
    bpf_link__destroy(*link);
    *link = nullptr;
  }
}

std::vector<int> calls_programs(const CallsSkeleton* skeleton) {
  std::vector<int> programs;
  for (int i = 0; i < skeleton->skeleton->prog_cnt; ++i) {
    const int program = bpf_program__fd(*skeleton->skeleton->progs[i].prog);
    if (program >= 0) programs.push_back(program);
  }
  return programs;
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
