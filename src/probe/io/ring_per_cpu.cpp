// SPDX-License-Identifier: Apache-2.0
#include "probe/io/ring_per_cpu.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <bit>

#include "base/bpf.h"
#include "wire/calls.h"

namespace fathom {
namespace {

constexpr size_t kAllRingsBytes = size_t{64} << 20;
constexpr size_t kMostRingBytes = size_t{8} << 20;
constexpr size_t kLeastRingBytes = size_t{1} << 20;

}  // namespace

RingPerCpu::RingPerCpu()
    : ring_bytes_(std::clamp(
          std::bit_floor(kAllRingsBytes / static_cast<size_t>(libbpf_num_possible_cpus())),
          kLeastRingBytes, kMostRingBytes)) {}

Result<std::vector<BpfRing>> RingPerCpu::make(int rings, const char* name, std::string_view what) {
  std::vector<BpfRing> made;
  const int cpus = std::min<int>(libbpf_num_possible_cpus(), kWireCallCpus);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, name, 0, 0,
                                   static_cast<uint32_t>(ring_bytes_), nullptr);
    if (map < 0) return bpf_error("make a ring for " + std::string(what), map);
    Fd fd(map);
    const auto key = static_cast<uint32_t>(cpu);
    const int failed = bpf_map_update_elem(rings, &key, &map, BPF_ANY);
    if (failed != 0) return bpf_error("place a ring for " + std::string(what), failed);
    TRY_ASSIGN(BpfRing ring, BpfRing::map(fd.get(), ring_bytes_));
    fds_.push_back(std::move(fd));
    made.push_back(std::move(ring));
  }
  return made;
}

std::vector<int> RingPerCpu::wake_fds() const {
  std::vector<int> fds;
  fds.reserve(fds_.size());
  for (const Fd& fd : fds_) fds.push_back(fd.get());
  return fds;
}

}  // namespace fathom
