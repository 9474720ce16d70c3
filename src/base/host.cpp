// SPDX-License-Identifier: Apache-2.0
#include "base/host.h"

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/fd.h"

namespace fathom {
namespace {

std::string cpu_model() {
  const auto info = read_file("/proc/cpuinfo");
  if (!info.ok()) return {};
  const std::string& text = info.value();
  const size_t line = text.find("model name");
  if (line == std::string::npos) return {};
  const size_t start = text.find(": ", line) + 2;
  return text.substr(start, text.find('\n', start) - start);
}

constexpr std::array<std::pair<std::string_view, const char*>, 5> kHypervisors = {{
    {"KVMKVMKVM", "kvm"},
    {"Microsoft Hv", "hyper-v"},
    {"VMwareVMware", "vmware"},
    {"XenVMMXenVMM", "xen"},
    {"TCGTCGTCGTCG", "qemu"},
}};

std::string virtualization() {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kHypervisorBit = 1U << 31;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kHypervisorBit) == 0) return "none";
  __cpuid(0x40000000, a, b, c, d);
  std::array<char, 13> vendor{};
  std::memcpy(vendor.data(), &b, 4);
  std::memcpy(vendor.data() + 4, &c, 4);
  std::memcpy(vendor.data() + 8, &d, 4);
  for (const auto& [id, name] : kHypervisors) {
    if (id == vendor.data()) return name;
  }
  return vendor.data();
#else
  return {};
#endif
}

}  // namespace

HostFacts host_facts() {
  HostFacts facts;
  utsname names{};
  uname(&names);
  facts.name = names.nodename;
  facts.kernel = names.release;
  facts.cpu_model = cpu_model();
  facts.virtualization = virtualization();
  facts.cores = sysconf(_SC_NPROCESSORS_ONLN);
  facts.memory_bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  const uid_t uid = getuid();
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  facts.user = found != nullptr ? found->pw_name : std::to_string(uid);
  return facts;
}

}  // namespace fathom
