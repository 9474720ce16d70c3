// SPDX-License-Identifier: Apache-2.0
#include "report/event_ratios.h"

#include <fmt/format.h>

#include <array>

namespace fathom {
namespace {

struct Partner {
  std::string_view event, of;
  std::string_view per;  // empty: a percentage of it
};
constexpr std::array kPartners = {
    Partner{"instructions", "cycles", "per cycle"},
    Partner{"instructions", "cpu-cycles", "per cycle"},
    Partner{"branch-misses", "branches", ""},
    Partner{"branch-misses", "branch-instructions", ""},
    Partner{"cache-misses", "cache-references", ""},
    Partner{"L1-dcache-misses", "L1-dcache-loads", ""},
    Partner{"L1-dcache-load-misses", "L1-dcache-loads", ""},
    Partner{"L1-dcache-store-misses", "L1-dcache-stores", ""},
    Partner{"L1-dcache-prefetch-misses", "L1-dcache-prefetches", ""},
    Partner{"L1-icache-misses", "L1-icache-loads", ""},
    Partner{"L1-icache-load-misses", "L1-icache-loads", ""},
    Partner{"L1-icache-load-misses", "instructions", ""},
    Partner{"LLC-load-misses", "LLC-loads", ""},
    Partner{"LLC-store-misses", "LLC-stores", ""},
    Partner{"dTLB-load-misses", "dTLB-loads", ""},
    Partner{"dTLB-store-misses", "dTLB-stores", ""},
    Partner{"iTLB-load-misses", "iTLB-loads", ""},
    Partner{"stalled-cycles-frontend", "cycles", ""},
    Partner{"stalled-cycles-backend", "cycles", ""},
};

}  // namespace

std::optional<std::string> event_ratio(std::string_view name, const EventCounts& counts) {
  const std::string_view base = name.substr(0, name.find(':'));
  const std::string_view modifier = name.substr(base.size());
  const auto own = counts.find(name);
  if (own == counts.end()) return std::nullopt;
  for (const Partner& partner : kPartners) {
    if (partner.event != base) continue;
    const auto whole = counts.find(std::string(partner.of) + std::string(modifier));
    if (whole == counts.end() || whole->second <= 0) continue;
    const double ratio = static_cast<double>(own->second) / static_cast<double>(whole->second);
    return partner.per.empty() ? fmt::format("{:.2f} % of {}", 100 * ratio, partner.of)
                               : fmt::format("{:.2f} {}", ratio, partner.per);
  }
  return std::nullopt;
}

std::string format_rate(int64_t count, double seconds) {
  double rate = static_cast<double>(count) / seconds;
  static constexpr std::array kUnits = {"/s", " k/s", " M/s", " G/s", " T/s"};
  size_t unit = 0;
  while (rate >= 999.5 && unit + 1 < kUnits.size()) {
    rate /= 1000;
    ++unit;
  }
  const int digits = rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", rate, digits, kUnits[unit]);
}

}  // namespace fathom
