// SPDX-License-Identifier: Apache-2.0
#include "symbol/jit_names.h"

#include "base/clock.h"

namespace fathom {

std::optional<std::string_view> JitNames::find(uint64_t address, int64_t time_ns) {
  if (const auto name = look_up(address, time_ns)) return name;
  const int64_t now_ns = monotonic_ns();
  if (now_ns - refreshed_ns_ < kRefreshNs) return std::nullopt;
  refreshed_ns_ = now_ns;
  refresh();
  return look_up(address, time_ns);
}

std::optional<std::string_view> JitNames::look_up(uint64_t address, int64_t time_ns) const {
  if (dump_)
    if (const auto name = dump_->find(address, time_ns)) return name;
  return map_ ? map_->find(address) : std::nullopt;
}

// A file that can no longer be read keeps the names it gave.
void JitNames::refresh() {
  if (dump_) (void)dump_->refresh();
  if (map_) {
    (void)map_->refresh();
  } else if (auto map = PerfMap::open(pid_); map.ok()) {
    map_ = std::move(map).value();
  }
}

}  // namespace fathom
