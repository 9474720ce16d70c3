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
  std::vector<uint32_t> keys;
  std::vector<int> maps;
  const int cpus = std::min<int>(libbpf_num_possible_cpus(), kWireCallCpus);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, name, 0, 0,
                                   static_cast<uint32_t>(ring_bytes_), nullptr);
    if (map < 0) return bpf_error("make a ring for " + std::string(what), map);
    fds_.emplace_back(map);
    keys.push_back(static_cast<uint32_t>(cpu));
    maps.push_back(map);
    TRY_ASSIGN(BpfRing ring, BpfRing::map(map, ring_bytes_));
    made.push_back(std::move(ring));
  }
  TRY(place_maps(rings, keys, maps, "place the rings for " + std::string(what)));
  return made;
}

std::vector<int> RingPerCpu::wake_fds() const {
  std::vector<int> fds;
  fds.reserve(fds_.size());
  for (const Fd& fd : fds_) fds.push_back(fd.get());
  return fds;
}

}  // namespace fathom
