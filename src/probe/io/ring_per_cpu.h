// SPDX-License-Identifier: Apache-2.0
// The rings that a BPF program has by CPU, in a map of maps: how large they may be together, made
// and placed. Belongs to who reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bpf_ring.h"
#include "base/fd.h"

namespace fathom {

class RingPerCpu {
 public:
  // The size follows from the number of CPUs.
  RingPerCpu();
  // Makes the rings, with a name for those who list maps, and places them in the map `rings`.
  // `what` they are for stands in errors. They are for the caller to read.
  Result<std::vector<BpfRing>> make(int rings, const char* name, std::string_view what);

  [[nodiscard]] size_t ring_bytes() const { return ring_bytes_; }
  [[nodiscard]] size_t all_bytes() const { return fds_.size() * ring_bytes_; }
  // Readable when a reader should come.
  [[nodiscard]] std::vector<int> wake_fds() const;

 private:
  size_t ring_bytes_;
  std::vector<Fd> fds_;
};

}  // namespace fathom
