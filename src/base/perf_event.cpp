// SPDX-License-Identifier: Apache-2.0
#include "base/perf_event.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/privilege.h"

namespace fathom {

Result<Fd> open_perf_event(perf_event_attr attr, pid_t pid, int cpu, unsigned long flags,
                           int group_fd) {
  attr.size = sizeof(attr);
  const long fd =
      syscall(SYS_perf_event_open, &attr, pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC);
  if (fd >= 0) return Fd(static_cast<int>(fd));
  const int failed = errno;
  Error error = errno_error("perf_event_open", failed);
  if (failed == EACCES || failed == EPERM) {
    error.hint = unlock_hint("sysctl kernel.perf_event_paranoid=2", "PERFMON");
  }
  if (failed == ENOENT || failed == ENODEV || failed == EOPNOTSUPP) error.code = Code::kUnsupported;
  return error;
}

Result<Fd> open_cgroup_perf_event(const perf_event_attr& attr, int cgroup_fd, int cpu) {
  return open_perf_event(attr, cgroup_fd, cpu, PERF_FLAG_PID_CGROUP);
}

Fd hold_perf_events() {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.disabled = 1;
  attr.exclude_kernel = attr.exclude_hv = 1;
  return open_perf_event(attr, 0, -1).value_or(Fd());
}

Result<PerfRing> PerfRing::map(int event_fd, size_t data_bytes, size_t least_bytes) {
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  CHECK(data_bytes >= page_bytes && (data_bytes & (data_bytes - 1)) == 0);
  while (true) {
    const size_t bytes = page_bytes + data_bytes;
    void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event_fd, 0);
    if (mapping != MAP_FAILED) return PerfRing(mapping, bytes, page_bytes);
    const int failed = errno;
    if ((failed != EPERM && failed != ENOMEM) ||
        data_bytes / 2 < std::max(least_bytes, page_bytes)) {
      return errno_error("map a ring of " + std::to_string(data_bytes) + " bytes", failed)
          .with_hint(
              "sysctl kernel.perf_event_mlock_kb=2048 lets users lock more memory for rings");
    }
    data_bytes /= 2;
  }
}

PerfRing::PerfRing(void* mapping, size_t mapped_bytes, size_t page_bytes)
    : control_(static_cast<perf_event_mmap_page*>(mapping)),
      data_(static_cast<const char*>(mapping) + page_bytes),
      mapped_bytes_(mapped_bytes),
      data_bytes_(mapped_bytes - page_bytes) {}

PerfRing::PerfRing(PerfRing&& other) noexcept { *this = std::move(other); }

PerfRing& PerfRing::operator=(PerfRing&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  control_ = std::exchange(other.control_, nullptr);
  data_ = other.data_;
  mapped_bytes_ = other.mapped_bytes_;
  data_bytes_ = other.data_bytes_;
  head_ = other.head_;
  tail_ = other.tail_;
  peeked_bytes_ = 0;
  wrapped_ = std::move(other.wrapped_);
  return *this;
}

PerfRing::~PerfRing() { unmap(); }

void PerfRing::unmap() {
  if (control_ != nullptr) munmap(control_, mapped_bytes_);
  control_ = nullptr;
}

void PerfRing::begin() {
  head_ = __atomic_load_n(&control_->data_head, __ATOMIC_ACQUIRE);
  tail_ = control_->data_tail;
  peeked_bytes_ = 0;
}

const perf_event_header* PerfRing::peek() {
  if (peeked_bytes_ > 0) return peeked_;
  if (head_ - tail_ < sizeof(perf_event_header)) return nullptr;
  const size_t at = tail_ & (data_bytes_ - 1);
  // Records are multiples of 8 bytes: a header is never split.
  const auto* header = reinterpret_cast<const perf_event_header*>(data_ + at);
  const size_t size = header->size;
  if (size < sizeof(perf_event_header) ||
      size > head_ - tail_) {  // not the kernel's: skip what there is
    tail_ = head_;
    return nullptr;
  }
  peeked_bytes_ = size;
  peeked_ = header;
  if (at + size <= data_bytes_) return peeked_;
  const size_t first = data_bytes_ - at;
  wrapped_.resize(size);
  std::memcpy(wrapped_.data(), data_ + at, first);
  std::memcpy(wrapped_.data() + first, data_, size - first);
  peeked_ = reinterpret_cast<const perf_event_header*>(wrapped_.data());
  return peeked_;
}

void PerfRing::pop() {
  tail_ += peeked_bytes_;
  peeked_bytes_ = 0;
}

const perf_event_header* PerfRing::next() {
  pop();
  return peek();
}

void PerfRing::end() { __atomic_store_n(&control_->data_tail, tail_, __ATOMIC_RELEASE); }

}  // namespace fathom
