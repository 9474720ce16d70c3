// SPDX-License-Identifier: Apache-2.0
// The reading side of a BPF ring buffer, record by record: unlike libbpf's, a record may be looked
// at and left for later, so that rings of several CPUs can be merged by time. Belongs to one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace fathom {

class BpfRing {
 public:
  // `map_fd` is a BPF_MAP_TYPE_RINGBUF of `data_bytes`; it stays the caller's.
  static Result<BpfRing> map(int map_fd, size_t data_bytes);

  BpfRing(BpfRing&& other) noexcept;
  BpfRing& operator=(BpfRing&& other) noexcept;
  BpfRing(const BpfRing&) = delete;
  BpfRing& operator=(const BpfRing&) = delete;
  ~BpfRing();

  // The next record, without taking it; empty if there is none yet or it is still being written.
  // Valid until pop().
  [[nodiscard]] std::span<const std::byte> peek();
  // Gives the peeked record's room back.
  void pop();
  // Nothing is in it, not even a record that is still being written.
  [[nodiscard]] bool empty() const;

 private:
  BpfRing() = default;
  void unmap();

  unsigned long* consumer_ = nullptr;        // a page of its own
  const unsigned long* producer_ = nullptr;  // a page, then the data twice
  const std::byte* data_ = nullptr;
  size_t data_bytes_ = 0;
  size_t next_ = 0;  // where the record after the peeked one starts
};

}  // namespace fathom
