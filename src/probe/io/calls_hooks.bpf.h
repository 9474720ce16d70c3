/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * Programs for any function or tracepoint of the kernel. They are never attached themselves: each
 * hook gets a copy with constants of its own (hook_programs.cpp), of which the kernel keeps only
 * what that hook needs. */
#pragma once

const volatile struct WireHook hook SEC(".rodata.hook") = {};

static __always_inline struct inode* inode_from(uint64_t value) {
  switch (hook.file) {
    case kHookOfFile:
      return BPF_CORE_READ((struct file*)value, f_inode);
    case kHookOfInode:
      return (struct inode*)value;
    case kHookOfDentry:
      return BPF_CORE_READ((struct dentry*)value, d_inode);
    case kHookOfPath:
      return BPF_CORE_READ((struct path*)value, dentry, d_inode);
    case kHookOfMapping:
      return BPF_CORE_READ((struct address_space*)value, host);
    case kHookOfFolio:
      return BPF_CORE_READ((struct folio*)value, mapping, host);
    case kHookOfKiocb:
      return BPF_CORE_READ((struct kiocb*)value, ki_filp, f_inode);
    default:
      return 0;
  }
}

static __always_inline void apply(struct WireTaskCalls* calls, uint64_t file, int64_t result) {
  if (hook.kind == kHookLeave) {
    if (hook.of_result == kResultErrno) result = (int32_t)result;
    end(calls, hook.function, result,
        hook.of_result == kResultBytes && result > 0 ? (uint64_t)result : 0);
    return;
  }
  const uint32_t number = file ? number_of_inode(calls, inode_from(file)) : 0;
  if (hook.kind == kHookEnter) {
    begin(calls, hook.function, number);
  } else {
    add_moment(calls, hook.function, number, 0);
  }
}

static __always_inline int hooked(uint64_t file, int64_t result) {
  struct WireTaskCalls* calls = calls_here();
  if (!calls) return 0;
  apply(calls, file, result);
  if (hook.user) calls->user_depth = calls->depth;
  return 0;
}

/* Arguments at fixed places only, of which those that are not asked for may not exist. */
#define ARGUMENT(to, number)                                                              \
  case number:                                                                            \
    __asm__ volatile("%0 = *(u64*)(%1 + %2)" : "=r"(to) : "r"(context), "i"(8 * number)); \
    break

static __always_inline uint64_t traced_argument(const uint64_t* context, uint32_t number) {
  uint64_t value = 0;
  switch (number) {
    ARGUMENT(value, 0);
    ARGUMENT(value, 1);
    ARGUMENT(value, 2);
    ARGUMENT(value, 3);
    ARGUMENT(value, 4);
    ARGUMENT(value, 5);
    ARGUMENT(value, 6);
  }
  return value;
}

/* For tracepoints, fentry and fexit. */
SEC("hook/traced")
int hook_traced(const uint64_t* context) {
  if (hook.kind == kHookUnused) return 0;
  const uint64_t file = hook.file != kHookNoFile ? traced_argument(context, hook.file_argument) : 0;
  const int64_t result =
      hook.of_result != kResultNone ? (int64_t)traced_argument(context, hook.result) : 0;
  return hooked(file, result);
}

/* Read, and not loaded: a register may only be loaded from a place that the compiler knows. */
static __always_inline uint64_t register_argument(const struct pt_regs* regs, uint32_t number) {
#if defined(__TARGET_ARCH_x86)
  switch (number) {
    case 0:
      return BPF_CORE_READ(regs, di);
    case 1:
      return BPF_CORE_READ(regs, si);
    case 2:
      return BPF_CORE_READ(regs, dx);
    case 3:
      return BPF_CORE_READ(regs, cx);
    case 4:
      return BPF_CORE_READ(regs, r8);
    case 5:
      return BPF_CORE_READ(regs, r9);
    default:
      return 0;
  }
#else
  switch (number) {
    case 0:
      return BPF_CORE_READ(regs, regs[0]);
    case 1:
      return BPF_CORE_READ(regs, regs[1]);
    case 2:
      return BPF_CORE_READ(regs, regs[2]);
    case 3:
      return BPF_CORE_READ(regs, regs[3]);
    case 4:
      return BPF_CORE_READ(regs, regs[4]);
    case 5:
      return BPF_CORE_READ(regs, regs[5]);
    default:
      return 0;
  }
#endif
}

static __always_inline int64_t register_result(const struct pt_regs* regs) {
#if defined(__TARGET_ARCH_x86)
  return (int64_t)BPF_CORE_READ(regs, ax);
#else
  return (int64_t)BPF_CORE_READ(regs, regs[0]);
#endif
}

/* For kprobes and uprobes. */
SEC("hook/registers")
int hook_registers(const struct pt_regs* regs) {
  if (hook.kind == kHookUnused) return 0;
  const uint64_t file = hook.file != kHookNoFile ? register_argument(regs, hook.file_argument) : 0;
  return hooked(file, hook.of_result != kResultNone ? register_result(regs) : 0);
}
