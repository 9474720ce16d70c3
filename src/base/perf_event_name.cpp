// SPDX-License-Identifier: Apache-2.0
#include "base/perf_event_name.h"

#include <fmt/format.h>
#include <perfmon/pfmlib_perf_event.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "base/tracefs.h"

namespace fathom {
namespace {

struct SoftwareEvent {
  std::string_view name;
  uint64_t config;
  const char* unit;
};
// Known without asking libpfm4, which takes a while to look at the machine.
constexpr std::array kSoftware = {
    SoftwareEvent{"cpu-clock", PERF_COUNT_SW_CPU_CLOCK, "ns"},
    SoftwareEvent{"task-clock", PERF_COUNT_SW_TASK_CLOCK, "ns"},
    SoftwareEvent{"page-faults", PERF_COUNT_SW_PAGE_FAULTS, "count"},
    SoftwareEvent{"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, "count"},
    SoftwareEvent{"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, "count"},
    SoftwareEvent{"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, "count"},
    SoftwareEvent{"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, "count"},
    SoftwareEvent{"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS, "count"},
    SoftwareEvent{"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS, "count"},
    SoftwareEvent{"cs", PERF_COUNT_SW_CONTEXT_SWITCHES, "count"},
    SoftwareEvent{"faults", PERF_COUNT_SW_PAGE_FAULTS, "count"},
    SoftwareEvent{"migrations", PERF_COUNT_SW_CPU_MIGRATIONS, "count"},
};
// Names in use elsewhere, and what libpfm4 calls them.
struct Alias {
  std::string_view name, means;
};
constexpr std::array kAliases = {
    Alias{"L1-icache-misses", "L1-icache-load-misses"},
    Alias{"L1-dcache-misses", "L1-dcache-load-misses"},
    Alias{"LLC-misses", "LLC-load-misses"},
    Alias{"dTLB-misses", "dTLB-load-misses"},
    Alias{"iTLB-misses", "iTLB-load-misses"},
};
// Only to suggest from.
constexpr std::array<std::string_view, 26> kHardware = {"cycles",
                                                        "cpu-cycles",
                                                        "instructions",
                                                        "cache-references",
                                                        "cache-misses",
                                                        "branches",
                                                        "branch-misses",
                                                        "bus-cycles",
                                                        "ref-cycles",
                                                        "stalled-cycles-frontend",
                                                        "stalled-cycles-backend",
                                                        "L1-dcache-loads",
                                                        "L1-dcache-load-misses",
                                                        "L1-dcache-stores",
                                                        "L1-dcache-store-misses",
                                                        "L1-dcache-prefetches",
                                                        "L1-dcache-prefetch-misses",
                                                        "L1-icache-loads",
                                                        "L1-icache-load-misses",
                                                        "LLC-loads",
                                                        "LLC-load-misses",
                                                        "LLC-stores",
                                                        "dTLB-loads",
                                                        "dTLB-load-misses",
                                                        "iTLB-loads",
                                                        "iTLB-load-misses"};

const SoftwareEvent* software_event(std::string_view name) {
  for (const SoftwareEvent& event : kSoftware)
    if (event.name == name) return &event;
  return nullptr;
}

// The name that libpfm4 knows, modifiers kept.
std::string without_alias(std::string_view base, const std::string& name) {
  for (const Alias& alias : kAliases)
    if (alias.name == base) return std::string(alias.means) + name.substr(base.size());
  return name;
}

// "sched:sched_switch": the kernel lists them by folder.
Result<int64_t> tracepoint_id(std::string_view system, std::string_view name) {
  if (name.empty() || system.find('/') != std::string_view::npos ||
      name.find('/') != std::string_view::npos)
    return Error{Code::kNotFound, "not the name of a tracepoint", ""};
  TRY_ASSIGN(const std::string text, read_tracefs(fmt::format("events/{}/{}/id", system, name)));
  return parse_number(std::string_view(text).substr(0, text.find('\n')));
}

// `tracepoint`: why it is none.
Error unknown_event(const std::string& name, std::string_view why, const Error& tracepoint) {
  std::vector<std::string_view> names(kHardware.begin(), kHardware.end());
  for (const SoftwareEvent& event : kSoftware) names.push_back(event.name);
  for (const Alias& alias : kAliases) names.push_back(alias.name);
  Error error{Code::kInvalid, "no event is named " + name + " (" + std::string(why) + ")",
              "perf list shows the events of this machine"};
  if (const auto near = closest_match(name, names)) {
    error.hint = "did you mean " + std::string(*near) + "?";
  } else if (tracepoint.code == Code::kPermission) {
    return {Code::kPermission, error.message, "tracepoints are for root"};
  } else if (tracepoint.code == Code::kUnsupported) {
    return tracepoint;
  }
  return error;
}

}  // namespace

Result<PerfEventName> find_perf_event(const std::string& name) {
  PerfEventName found;
  const std::string_view whole = name;
  const std::string_view base = whole.substr(0, whole.find(':'));
  const std::string_view modifier =
      base.size() < whole.size() ? whole.substr(base.size() + 1) : std::string_view{};
  const SoftwareEvent* software = software_event(base);
  if (software != nullptr && (modifier.empty() || modifier == "u" || modifier == "k")) {
    found.attr.type = PERF_TYPE_SOFTWARE;
    found.attr.config = software->config;
    found.attr.exclude_kernel = modifier == "u";
    found.attr.exclude_user = modifier == "k";
    found.unit = software->unit;
    return found;
  }
  found.unit = "count";
  const auto tracepoint = tracepoint_id(base, modifier);
  if (tracepoint.ok()) {
    found.attr.type = PERF_TYPE_TRACEPOINT;
    found.attr.config = static_cast<uint64_t>(tracepoint.value());
    return found;
  }
  static const int kReady = pfm_initialize();
  if (kReady != PFM_SUCCESS) return unknown_event(name, pfm_strerror(kReady), tracepoint.error());
  pfm_perf_encode_arg_t request{};
  request.attr = &found.attr;
  request.size = sizeof(request);
  const int failed = pfm_get_os_event_encoding(without_alias(base, name).c_str(),
                                               PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &request);
  if (failed != PFM_SUCCESS) return unknown_event(name, pfm_strerror(failed), tracepoint.error());
  return found;
}

}  // namespace fathom
