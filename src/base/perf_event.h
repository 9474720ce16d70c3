// SPDX-License-Identifier: Apache-2.0
// perf_event_open(2) and its ring of records. A ring belongs to one thread; it reads what the
// kernel has written and gives the room back. Nothing here knows what the events mean.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace fathom {

// A closed-on-exec event of `pid` (0: this thread, -1: all) on `cpu` (-1: any). Refused for lack of
// privilege: the hint names the sysctl. It joins the group of the event `group_fd`; -1: its own.
Result<Fd> open_perf_event(perf_event_attr attr, pid_t pid, int cpu, unsigned long flags = 0,
                           int group_fd = -1);
// The same for all tasks of the cgroup whose folder is open as `cgroup_fd`.
Result<Fd> open_cgroup_perf_event(const perf_event_attr& attr, int cgroup_fd, int cpu);

// An event that counts nothing. The kernel waits for all CPUs as the first event of any task or
// cgroup is opened: with this one open, others do not have to. Invalid where events are not
// permitted.
Fd hold_perf_events();

class PerfRing {
 public:
  // `data_bytes` is a power of two of at least one page. Where the user's locked memory is used up
  // (perf_event_mlock_kb), halves it down to `least_bytes`.
  static Result<PerfRing> map(int event_fd, size_t data_bytes, size_t least_bytes);

  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&& other) noexcept;
  PerfRing(const PerfRing&) = delete;
  PerfRing& operator=(const PerfRing&) = delete;
  ~PerfRing();

  // The next record the kernel had finished when begin() was called, or null. Valid until the next
  // call of pop() or next().
  void begin();
  [[nodiscard]] const perf_event_header* peek();
  void pop();
  [[nodiscard]] const perf_event_header* next();
  // Gives all records popped since begin() back to the kernel.
  void end();

  [[nodiscard]] size_t mapped_bytes() const { return mapped_bytes_; }

 private:
  PerfRing(void* mapping, size_t mapped_bytes, size_t page_bytes);
  void unmap();

  perf_event_mmap_page* control_ = nullptr;
  const char* data_ = nullptr;
  size_t mapped_bytes_ = 0;
  size_t data_bytes_ = 0;
  size_t head_ = 0;
  size_t tail_ = 0;
  size_t peeked_bytes_ = 0;  // of the record that peek() gave; 0: none
  const perf_event_header* peeked_ = nullptr;
  std::string wrapped_;  // a record that lies across the ring's end, in one piece
};

}  // namespace fathom
