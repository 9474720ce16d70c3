// SPDX-License-Identifier: Apache-2.0
#include "base/bpf_ring.h"

#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace fathom {
namespace {

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

Result<BpfRing> BpfRing::map(int map_fd, size_t data_bytes) {
  BpfRing ring;
  ring.data_bytes_ = data_bytes;
  void* consumer = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
  if (consumer == MAP_FAILED) return errno_error("map a BPF ring");
  ring.consumer_ = static_cast<unsigned long*>(consumer);
  void* producer = mmap(nullptr, page_bytes() + 2 * data_bytes, PROT_READ, MAP_SHARED, map_fd,
                        static_cast<off_t>(page_bytes()));
  if (producer == MAP_FAILED) return errno_error("map a BPF ring");
  ring.producer_ = static_cast<const unsigned long*>(producer);
  ring.data_ = static_cast<const std::byte*>(producer) + page_bytes();
  return ring;
}

BpfRing::BpfRing(BpfRing&& other) noexcept { *this = std::move(other); }

BpfRing& BpfRing::operator=(BpfRing&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  consumer_ = std::exchange(other.consumer_, nullptr);
  producer_ = std::exchange(other.producer_, nullptr);
  data_ = other.data_;
  data_bytes_ = other.data_bytes_;
  next_ = other.next_;
  return *this;
}

BpfRing::~BpfRing() { unmap(); }

void BpfRing::unmap() {
  if (consumer_ != nullptr) munmap(consumer_, page_bytes());
  if (producer_ != nullptr)
    munmap(const_cast<unsigned long*>(producer_), page_bytes() + 2 * data_bytes_);
  consumer_ = nullptr;
  producer_ = nullptr;
}

std::span<const std::byte> BpfRing::peek() {
  for (;;) {
    const unsigned long at = *consumer_;  // only we write it
    if (at >= __atomic_load_n(producer_, __ATOMIC_ACQUIRE)) return {};
    const std::byte* header = data_ + (at & (data_bytes_ - 1));
    const uint32_t word =
        __atomic_load_n(reinterpret_cast<const uint32_t*>(header), __ATOMIC_ACQUIRE);
    if ((word & BPF_RINGBUF_BUSY_BIT) != 0) return {};
    const size_t size = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
    next_ = at + (size + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
    if ((word & BPF_RINGBUF_DISCARD_BIT) == 0) return {header + BPF_RINGBUF_HDR_SZ, size};
    pop();
  }
}

bool BpfRing::empty() const { return *consumer_ >= __atomic_load_n(producer_, __ATOMIC_ACQUIRE); }

void BpfRing::pop() { __atomic_store_n(consumer_, next_, __ATOMIC_RELEASE); }

}  // namespace fathom
