// SPDX-License-Identifier: Apache-2.0
#include "probe/cuda/gpu_gauges.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

namespace fathom {
namespace {

constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";
constexpr unsigned kMostDevices = 64;
constexpr unsigned kMostProcesses = 256;

// Layouts and numbers of NVML.
struct Utilization {
  unsigned gpu, memory;
};
struct Memory {
  uint64_t total, free, used;
};
struct ProcessInfo {  // _v2 and later
  unsigned pid;
  uint64_t used_bytes;
  unsigned instance, compute_instance;
};
struct FieldValue {
  unsigned field, scope;
  int64_t time_us, latency_us;
  unsigned type;
  int failed;
  uint64_t value;
};
constexpr unsigned kLinksSent = 138, kLinksReceived = 139;  // KiB since the driver was loaded
constexpr unsigned kAllLinks = UINT32_MAX;
constexpr unsigned kTypeUnsignedLong = 2, kTypeUnsignedLongLong = 3;
constexpr double kUsPerS = 1e6, kKib = 1024;
constexpr unsigned kClockGraphics = 0, kClockSm = 1, kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;
constexpr unsigned kPcieSent = 0, kPcieReceived = 1;

using ReadNumber = int(void*, unsigned*);
using ReadNumberOf = int(void*, unsigned, unsigned*);

constexpr std::array kFigures = {
    GpuFigure{"nvmlDeviceGetPowerUsage", -1, "power", "W", 1e-3},
    GpuFigure{"nvmlDeviceGetTemperature", kTemperatureGpu, "temperature", "C", 1},
    GpuFigure{"nvmlDeviceGetClockInfo", kClockGraphics, "graphics_clock", "Hz", 1e6},
    GpuFigure{"nvmlDeviceGetClockInfo", kClockSm, "sm_clock", "Hz", 1e6},
    GpuFigure{"nvmlDeviceGetClockInfo", kClockMemory, "memory_clock", "Hz", 1e6},
};
// Each measures for 20 ms before it answers, so they take turns.
constexpr std::array kPcie = {
    GpuFigure{"nvmlDeviceGetPcieThroughput", kPcieSent, "pcie_sent", "bytes/s", 1e3},
    GpuFigure{"nvmlDeviceGetPcieThroughput", kPcieReceived, "pcie_received", "bytes/s", 1e3},
};
constexpr int64_t kPcieEveryNs = 1'000'000'000;

void add(RecordStream& out, int64_t now_ns, size_t number, std::string_view name, const char* unit,
         double value) {
  Gauge gauge;
  gauge.time_ns = now_ns;
  gauge.scope = out.string(fmt::format("gpu {}", number));
  gauge.name = out.string(name);
  gauge.unit = out.string(unit);
  gauge.value = value;
  out.add(gauge);
}

}  // namespace

template <class Function>
Function* GpuGauges::function(const char* name) const {
  return reinterpret_cast<Function*>(dlsym(library_, name));
}

GpuGauges::~GpuGauges() {
  if (library_ == nullptr) return;
  if (auto* end = function<int()>("nvmlShutdown")) (void)end();
  dlclose(library_);
}

void GpuGauges::open() {
  library_ = dlopen(kNvmlLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    why_ = std::string(kNvmlLibrary) + " is not here";
    return;
  }
  auto* begin = function<int()>("nvmlInit_v2");
  auto* count_of = function<int(unsigned*)>("nvmlDeviceGetCount_v2");
  auto* device_at = function<int(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2");
  unsigned count = 0;
  if (begin == nullptr || count_of == nullptr || device_at == nullptr) {
    why_ = std::string(kNvmlLibrary) + " is not one that we know";
    return;
  }
  if (const int failed = begin(); failed != 0) {
    why_ = fmt::format("{} does not start (error {})", kNvmlLibrary, failed);
    return;
  }
  (void)count_of(&count);
  for (unsigned i = 0; i < count && i < kMostDevices; ++i) {
    Device device = nullptr;
    if (device_at(i, &device) == 0) devices_.push_back(device);
  }
  links_.resize(devices_.size());
  why_ = devices_.empty() ? "there is no GPU" : "";
}

void GpuGauges::look(int64_t now_ns, RecordStream& out) {
  const bool pcie = now_ns - last_pcie_ns_ >= kPcieEveryNs;
  for (size_t i = 0; i < devices_.size(); ++i) {
    look_at(i, now_ns, out);
    look_at_processes(i, now_ns, out);
    look_at_links(i, now_ns, out);
    if (pcie) look_at_figure(kPcie[pcie_turn_ % kPcie.size()], i, now_ns, out);
  }
  if (!pcie) return;
  last_pcie_ns_ = now_ns;
  ++pcie_turn_;
}

void GpuGauges::look_at_figure(const GpuFigure& figure, size_t number, int64_t now_ns,
                               RecordStream& out) const {
  unsigned value = 0;
  int failed = 1;
  if (figure.selector < 0) {
    auto* read = function<ReadNumber>(figure.function);
    if (read != nullptr) failed = read(devices_[number], &value);
  } else {
    auto* read = function<ReadNumberOf>(figure.function);
    if (read != nullptr)
      failed = read(devices_[number], static_cast<unsigned>(figure.selector), &value);
  }
  if (failed == 0) add(out, now_ns, number, figure.name, figure.unit, value * figure.scale);
}

void GpuGauges::look_at(size_t number, int64_t now_ns, RecordStream& out) const {
  Device device = devices_[number];
  Utilization used{};
  auto* utilization = function<int(Device, Utilization*)>("nvmlDeviceGetUtilizationRates");
  if (utilization != nullptr && utilization(device, &used) == 0) {
    add(out, now_ns, number, "busy", "%", used.gpu);
    add(out, now_ns, number, "memory_busy", "%", used.memory);
  }
  Memory memory{};
  auto* memory_info = function<int(Device, Memory*)>("nvmlDeviceGetMemoryInfo");
  if (memory_info != nullptr && memory_info(device, &memory) == 0) {
    add(out, now_ns, number, "memory_used", "bytes", static_cast<double>(memory.used));
    add(out, now_ns, number, "memory_size", "bytes", static_cast<double>(memory.total));
  }
  for (const GpuFigure& figure : kFigures) look_at_figure(figure, number, now_ns, out);
}

// What went over all NVLinks of a device; nothing where it has none.
void GpuGauges::look_at_links(size_t number, int64_t now_ns, RecordStream& out) {
  constexpr std::array kNames = {"nvlink_sent", "nvlink_received"};
  auto* read = function<int(Device, int, FieldValue*)>("nvmlDeviceGetFieldValues");
  std::array<FieldValue, kNames.size()> fields{};
  fields[0].field = kLinksSent;
  fields[1].field = kLinksReceived;
  for (FieldValue& field : fields) field.scope = kAllLinks;
  if (read == nullptr ||
      read(devices_[number], static_cast<int>(fields.size()), fields.data()) != 0)
    return;
  for (size_t i = 0; i < fields.size(); ++i) {
    const FieldValue& now = fields[i];
    LinkSum& before = links_[number][i];
    if (now.failed != 0 || (now.type != kTypeUnsignedLong && now.type != kTypeUnsignedLongLong))
      continue;
    if (before.time_us != 0 && now.time_us > before.time_us && now.value >= before.kib)
      add(out, now_ns, number, kNames[i], "bytes/s",
          static_cast<double>(now.value - before.kib) * kKib * kUsPerS /
              static_cast<double>(now.time_us - before.time_us));
    before = {now.time_us, now.value};
  }
}

void GpuGauges::look_at_processes(size_t number, int64_t now_ns, RecordStream& out) const {
  auto* running =
      function<int(Device, unsigned*, ProcessInfo*)>("nvmlDeviceGetComputeRunningProcesses_v3");
  std::array<ProcessInfo, kMostProcesses> list{};
  unsigned count = kMostProcesses;
  if (running == nullptr || running(devices_[number], &count, list.data()) != 0) return;
  for (unsigned i = 0; i < count && i < kMostProcesses; ++i) {
    if (list[i].used_bytes != UINT64_MAX)
      add(out, now_ns, number, fmt::format("memory_used_by_{}", list[i].pid), "bytes",
          static_cast<double>(list[i].used_bytes));
  }
}

}  // namespace fathom
