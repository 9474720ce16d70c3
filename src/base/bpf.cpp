// SPDX-License-Identifier: Apache-2.0
#include "base/bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/privilege.h"

namespace fathom {
namespace {

constexpr const char* kTypeInformation = "/sys/kernel/btf/vmlinux";
constexpr ino_t kInitialPidNamespace = 0xEFFFFFFC;  // fixed by the kernel's interface

thread_local std::string
    complaint;  // the first since it was last taken: later ones only follow from it

int keep_complaint(libbpf_print_level level, const char* format, va_list args) {
  if (level != LIBBPF_WARN || !complaint.empty()) return 0;
  std::array<char, 400> line{};
  std::vsnprintf(line.data(), line.size(), format, args);
  std::string_view text = line.data();
  text = text.substr(0, text.find('\n'));
  constexpr std::string_view kPrefix = "libbpf: ";
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  // Its guess whenever a first try fails, whatever for.
  if (text.find("RLIMIT_MEMLOCK") == std::string_view::npos) complaint = text;
  return 0;
}

// Those of the two that BPF programs need and this process does not have; empty: none.
std::string missing_capabilities() {
  if (has_capability(CAP_SYS_ADMIN)) return {};
  std::string names = has_capability(CAP_BPF) ? "" : "CAP_BPF";
  if (!has_capability(CAP_PERFMON)) names += names.empty() ? "CAP_PERFMON" : " and CAP_PERFMON";
  return names;
}

Error refused(std::string_view doing, int error_number, const std::string& reason) {
  if (geteuid() != 0) {
    return Error{Code::kPermission, std::string(doing) + ": loading BPF programs needs root",
                 "sudo setcap cap_bpf,cap_perfmon+ep \"$(command -v fathom)\" (or run as root)"};
  }
  // Root and still refused: a container's missing capability, or lockdown.
  if (const std::string missing = missing_capabilities(); !missing.empty()) {
    return Error{Code::kPermission,
                 fmt::format("{}: this process is root without {}", doing, missing),
                 "in a container: docker run --cap-add BPF --cap-add PERFMON"};
  }
  Error error = errno_error(doing, error_number)
                    .with_hint("lockdown, a security module or a seccomp filter forbids it");
  if (!reason.empty()) error.message += " (" + reason + ")";
  return error;
}

// For what a kernel says to what it does not know.
std::string newer_kernel() {
  utsname name{};
  return fmt::format("a newer kernel may take it; this is {}",
                     uname(&name) == 0 ? name.release : "not known");
}

}  // namespace

Status check_bpf() {
  libbpf_set_print(keep_complaint);
  complaint.clear();
  if (access(kTypeInformation, R_OK) != 0) {
    return Error{Code::kUnsupported,
                 "the kernel gives no type information (" + std::string(kTypeInformation) + ")",
                 "a kernel built with CONFIG_DEBUG_INFO_BTF has it"};
  }
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) == 0 && space.st_ino != kInitialPidNamespace) {
    return Error{Code::kUnsupported,
                 "this process has a pid namespace of its own: the kernel's ids are others",
                 "run on the host, or share its pid namespace (docker run --pid=host)"};
  }
  return {};
}

Status place_maps(int map_of_maps, std::span<const uint32_t> keys, std::span<const int> fds,
                  std::string_view doing) {
  CHECK(keys.size() == fds.size());
  LIBBPF_OPTS(bpf_map_batch_opts, options);
  auto count = static_cast<uint32_t>(keys.size());
  if (bpf_map_update_batch(map_of_maps, keys.data(), fds.data(), &count, &options) == 0 &&
      count == keys.size())
    return {};
  for (size_t i = 0; i < keys.size(); ++i) {
    const int failed = bpf_map_update_elem(map_of_maps, &keys[i], &fds[i], BPF_ANY);
    if (failed != 0) return bpf_error(doing, failed);
  }
  return {};
}

Fd measure_bpf_time() { return Fd(bpf_enable_stats(BPF_STATS_RUN_TIME)); }

bool is_bpf_time_measured() {
  const auto text = read_file("/proc/sys/kernel/bpf_stats_enabled");
  return text.ok() && text.value().starts_with('1');
}

int64_t bpf_run_time_ns(std::span<const int> programs) {
  int64_t sum = 0;
  for (const int program : programs) {
    bpf_prog_info info{};
    uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(program, &info, &size) == 0)
      sum += static_cast<int64_t>(info.run_time_ns);
  }
  return sum;
}

Error bpf_error(std::string_view doing, int error_number) {
  error_number = std::abs(error_number);
  const std::string reason = std::exchange(complaint, {});
  if (error_number == EPERM || error_number == EACCES) return refused(doing, error_number, reason);
  if (error_number == ENOSYS) {
    return Error{Code::kUnsupported, std::string(doing) + ": this kernel has no BPF",
                 "a kernel built with CONFIG_BPF_SYSCALL has it"};
  }
  Error error = errno_error(doing, error_number);
  if (error_number == ESRCH || error_number == ENOENT || error_number == EINVAL) {
    error.code = Code::kUnsupported;
    error.hint = newer_kernel();
  }
  if (!reason.empty()) error.message += " (" + reason + ")";
  return error;
}

}  // namespace fathom
