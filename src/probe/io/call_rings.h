// SPDX-License-Identifier: Apache-2.0
// The rings of calls.bpf.c, one a CPU and one for names, and what is read from them. A record whose
// file has no name yet waits for it. Belongs to the recorder's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "probe/io/kernel_records.h"
#include "probe/io/ring_per_cpu.h"

namespace fathom {

class CallRings {
 public:
  // Makes the rings and places them in the map `rings`; `names` is a ring itself.
  Status open(int rings, int names);

  // Takes what is there; `last`: no name comes any more.
  void drain(KernelRecords& records, bool last);
  // Nothing is in them, not even a record that is still being written.
  [[nodiscard]] bool empty() const;
  // Readable when a ring is full so far that its reader should come.
  [[nodiscard]] std::vector<int> wake_fds() const { return made_.wake_fds(); }
  [[nodiscard]] uint64_t wake_bytes() const;
  [[nodiscard]] int64_t buffer_bytes() const;

 private:
  void take(KernelRecords& records, std::span<const std::byte> record, bool last);
  void take_batch(KernelRecords& records, std::span<const std::byte> record, bool last);

  RingPerCpu made_;
  std::vector<BpfRing> rings_;
  std::unique_ptr<BpfRing> names_;
  std::vector<std::vector<std::byte>> waiting_;
};

}  // namespace fathom
