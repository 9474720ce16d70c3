// SPDX-License-Identifier: Apache-2.0
#include "probe/counters/refusal.h"

#include <filesystem>

#include "base/host.h"
#include "probe/counters/event_list.h"

namespace fathom {

bool has_pmu() {
  // "cpu" on x86, "cpu_core" on hybrid ones, "armv8_pmuv3_0" and the like on ARM.
  std::error_code failed;
  for (const auto& entry :
       std::filesystem::directory_iterator("/sys/bus/event_source/devices", failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("cpu") || name.starts_with("arm")) return true;
  }
  return false;
}

std::string refusal(const PerfEventName& what, const Error& error) {
  const bool refused = error.code == Code::kUnsupported || error.code == Code::kInvalid ||
                       error.code == Code::kNotFound;
  if (refused && is_hardware(what)) {
    if (has_pmu()) return "this CPU has no counter for it";
    return host_facts().virtualization == "none" ? "the kernel has no PMU on this machine"
                                                 : "no PMU in this virtual machine";
  }
  if (error.code == Code::kPermission && kernel_only(what))
    return "it happens in the kernel, which is for root (or sysctl kernel.perf_event_paranoid=1)";
  if (error.code == Code::kPermission) return "the kernel refuses it to this user; " + error.hint;
  return error.message;
}

std::string senseless(const PerfEventName& what) {
  if (is_clock(what) && (what.attr.exclude_user != 0 || what.attr.exclude_kernel != 0))
    return "a clock cannot tell user from kernel time; ask for it without :u or :k";
  if (kernel_only(what) && what.attr.exclude_kernel != 0)
    return "it happens in the kernel only; ask for it without :u";
  return {};
}

}  // namespace fathom
