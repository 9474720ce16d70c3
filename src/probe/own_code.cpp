// SPDX-License-Identifier: Apache-2.0
#include "probe/own_code.h"

#include <algorithm>
#include <span>

#include "base/fd.h"
#include "base/proc.h"

namespace fathom {
namespace {

constexpr std::string_view kLibraries[] = {"libfathom-io.so", "libfathom-io-malloc.so",
                                           "libfathom-cuda.so", "libpfinterpose.so"};
// Then comes its tag, 16 digits, and its name.
constexpr std::string_view kProgram = "bpf_prog_";
constexpr size_t kTagDigits = 16;
constexpr std::string_view kTracepoints[] = {"bpf_trace_run", "__bpf_trace_", "__traceiter_",
                                             "perf_trace_", "trace_call_bpf"};

bool starts_with_any(std::string_view text, std::span<const std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

}  // namespace

bool OwnCode::is_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::find(std::begin(kLibraries), std::end(kLibraries), name) != std::end(kLibraries);
}

KernelCode OwnCode::kernel_code(std::string_view symbol) {
  if (starts_with_any(symbol, kTracepoints)) return KernelCode::kTracepoint;
  if (symbol.starts_with(kProgram)) {
    const std::string tag(symbol.substr(kProgram.size(), kTagDigits));
    if (!tags_.contains(tag)) read_tags();  // it may have been loaded since
    return tags_.contains(tag) ? KernelCode::kOwnProgram : KernelCode::kForeignProgram;
  }
  return symbol.starts_with("bpf_") || symbol.starts_with("__bpf_") ? KernelCode::kBpf
                                                                    : KernelCode::kOther;
}

bool OwnCode::has_programs() {
  if (!read_) read_tags();
  return !tags_.empty();
}

// The kernel lists the tag of each program that a descriptor is open of.
void OwnCode::read_tags() {
  constexpr std::string_view kKey = "prog_tag:\t";
  read_ = true;
  const auto descriptors = list_ids("/proc/self/fdinfo");
  if (!descriptors.ok()) return;
  for (const int64_t descriptor : descriptors.value()) {
    const auto text = read_file("/proc/self/fdinfo/" + std::to_string(descriptor));
    if (!text.ok()) continue;
    const size_t at = text.value().find(kKey);
    if (at != std::string::npos) tags_.insert(text.value().substr(at + kKey.size(), kTagDigits));
  }
}

}  // namespace fathom
