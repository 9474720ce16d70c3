// SPDX-License-Identifier: Apache-2.0
// Names for code that a process compiled while it ran: its jitdump file if it maps one, else its
// perf map. Both grow: they are read again when an address has no name, but not more often than
// kRefreshNs, and a perf map that is not there is looked for again as rarely. Belongs to one
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "symbol/jitdump.h"
#include "symbol/perf_map.h"

namespace fathom {

class JitNames {
 public:
  static constexpr int64_t kRefreshNs = 200'000'000;

  explicit JitNames(int64_t pid) : pid_(pid) {}

  void use_jitdump(Jitdump dump) { dump_ = std::move(dump); }
  // A view until the next call.
  std::optional<std::string_view> find(uint64_t address, int64_t time_ns);

  [[nodiscard]] const PerfMap* perf_map() const { return map_ ? &*map_ : nullptr; }
  [[nodiscard]] const Jitdump* jitdump() const { return dump_ ? &*dump_ : nullptr; }

 private:
  [[nodiscard]] std::optional<std::string_view> look_up(uint64_t address, int64_t time_ns) const;
  void refresh();

  int64_t pid_;
  int64_t refreshed_ns_ = INT64_MIN / 2;
  std::optional<PerfMap> map_;
  std::optional<Jitdump> dump_;
};

}  // namespace fathom
