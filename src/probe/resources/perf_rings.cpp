// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/perf_rings.h"

#include <sys/ioctl.h>

#include <utility>

namespace fathom {

Result<PerfRings> PerfRings::make(const std::vector<int>& cpus, const perf_event_attr& like,
                                  size_t ring_bytes, size_t least_bytes) {
  perf_event_attr owns{};
  owns.type = PERF_TYPE_SOFTWARE;
  owns.config = PERF_COUNT_SW_DUMMY;
  owns.exclude_kernel = owns.exclude_hv = 1;
  owns.use_clockid = like.use_clockid;
  owns.clockid = like.clockid;
  owns.watermark = 1;
  owns.wakeup_watermark = UINT32_MAX;  // the kernel takes the ring's size: nobody is woken
  PerfRings made;
  for (const int cpu : cpus) {
    TRY_ASSIGN(Fd owner, open_perf_event(owns, 0, cpu));
    TRY_ASSIGN(PerfRing records, PerfRing::map(owner.get(), ring_bytes, least_bytes));
    made.rings_.push_back({std::move(owner), std::move(records)});
  }
  return made;
}

Status PerfRings::take(const Fd& event, size_t at) const {
  if (ioctl(event.get(), PERF_EVENT_IOC_SET_OUTPUT, rings_[at].owner.get()) != 0)
    return errno_error("share a perf ring");
  return {};
}

int64_t PerfRings::bytes() const {
  int64_t bytes = 0;
  for (const Ring& ring : rings_) bytes += static_cast<int64_t>(ring.records.mapped_bytes());
  return bytes;
}

}  // namespace fathom
