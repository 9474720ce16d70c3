// SPDX-License-Identifier: Apache-2.0
#include "base/bpf.h"

#include <bpf/libbpf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

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
  const std::string_view text = line.data();
  complaint = text.substr(0, text.find('\n'));
  constexpr std::string_view kPrefix = "libbpf: ";
  if (complaint.starts_with(kPrefix)) complaint.erase(0, kPrefix.size());
  return 0;
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

Error bpf_error(std::string_view doing, int error_number) {
  error_number = std::abs(error_number);
  const std::string reason = std::exchange(complaint, {});
  if (error_number == EPERM || error_number == EACCES) {
    if (geteuid() != 0) {
      return Error{Code::kPermission, std::string(doing) + ": loading BPF programs needs root",
                   "sudo setcap cap_bpf,cap_perfmon+ep \"$(command -v fathom)\" (or run as root)"};
    }
    // Root and still refused: lockdown, or a container's missing capability.
    Error error = errno_error(doing, error_number)
                      .with_hint("needs CAP_BPF and CAP_PERFMON, and no lockdown");
    if (!reason.empty()) error.message += " (" + reason + ")";
    return error;
  }
  Error error = errno_error(doing, error_number);
  if (error_number == ESRCH || error_number == ENOENT || error_number == EINVAL)
    error.code = Code::kUnsupported;
  if (!reason.empty()) error.message += " (" + reason + ")";
  return error;
}

}  // namespace fathom
