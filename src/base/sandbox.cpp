// SPDX-License-Identifier: Apache-2.0
#include "base/sandbox.h"

#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <vector>

namespace fathom {
namespace {

constexpr uid_t kNobody = 65534;

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

// What reading, memory, time and the C library's locks need.
constexpr long kAllowed[] = {
    SYS_read,          SYS_pread64,         SYS_readv,          SYS_preadv,
    SYS_write,         SYS_lseek,           SYS_fstat,          SYS_newfstatat,
    SYS_fcntl,         SYS_close,           SYS_recvfrom,       SYS_recvmsg,
    SYS_sendto,        SYS_sendmsg,         SYS_mmap,           SYS_munmap,
    SYS_mremap,        SYS_mprotect,        SYS_madvise,        SYS_brk,
    SYS_futex,         SYS_ppoll,           SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_clock_gettime, SYS_clock_nanosleep, SYS_gettimeofday,   SYS_getrandom,
    SYS_sched_yield,   SYS_restart_syscall, SYS_exit,           SYS_exit_group,
#ifdef SYS_poll
    SYS_poll,
#endif
};

sock_filter load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}
sock_filter end(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
// Skips so many instructions unless the loaded word is `value`.
sock_filter unless(uint32_t value, uint8_t skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
}

}  // namespace

Status drop_privileges() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno_error("set no_new_privs");
  if (geteuid() == 0) {
    (void)setgroups(0, nullptr);  // where a user namespace forbids it, there are none to lose
    // Where nobody has no id in this user namespace, the capabilities go all the same.
    (void)setresgid(kNobody, kNobody, kNobody);
    (void)setresuid(kNobody, kNobody, kNobody);
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capset, &header, none) != 0) return errno_error("drop capabilities");
  return {};
}

Status allow_only_open_files() {
  std::vector<sock_filter> program = {load(offsetof(seccomp_data, arch)), unless(kArchitecture, 1),
                                      load(offsetof(seccomp_data, nr))};
  // Of another architecture: its number would mean another call. `unless` above skips the load, and
  // the word that is then compared is the architecture, which is no number of a call.
  for (const long number : kAllowed) {
    program.push_back(unless(static_cast<uint32_t>(number), 1));
    program.push_back(end(SECCOMP_RET_ALLOW));
  }
  program.push_back(end(SECCOMP_RET_ERRNO | EPERM));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)
    return errno_error("set a seccomp filter");
  return {};
}

}  // namespace fathom
