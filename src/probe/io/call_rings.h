// SPDX-License-Identifier: Apache-2.0
// The rings of calls.bpf.c, one a CPU and one for names, and what is read from them. A record whose
// file has no name yet waits for it. Belongs to the recorder's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <vector>

#include "probe/io/kernel_records.h"
#include "probe/io/ring_per_cpu.h"

namespace fathom {

class CallRings {
 public:
  // Makes the map of rings, and begins to make and place the rings: the kernel waits for all CPUs,
  // while programs that use the map can be loaded.
  Status begin();
  // The map of rings, after begin().
  [[nodiscard]] int map_fd() const { return map_.get(); }
  // Once all is placed; `names` is a ring itself.
  Status open(int names);

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
  Fd map_;
  std::future<Result<std::vector<BpfRing>>> placing_;
  std::vector<BpfRing> rings_;
  std::unique_ptr<BpfRing> names_;
  std::vector<std::vector<std::byte>> waiting_;
};

}  // namespace fathom
