// SPDX-License-Identifier: Apache-2.0
#include "report/process_lanes.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace fathom {
namespace {

// What is drawn of a process: within the run, and wide enough to be seen.
ProcessBar bar_of(const Summary& summary, size_t number) {
  const Process& process = summary.tables->rows.of<Process>()[number];
  const int64_t start_ns = summary.run().start_ns, length_ns = summary.duration_ns;
  ProcessBar bar;
  bar.process = number;
  bar.start_ns = std::clamp<int64_t>(process.start_ns - start_ns, 0, length_ns);
  bar.end_ns = std::clamp<int64_t>(process.end_ns.value_or(start_ns + length_ns) - start_ns,
                                   bar.start_ns, length_ns);
  bar.ended = process.end_ns.has_value();
  return bar;
}

// The first process, then by CPU time.
std::vector<size_t> by_weight(const std::vector<Process>& processes) {
  std::vector<size_t> order(processes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto earlier = [&](size_t a, size_t b) {
    return std::tuple(processes[a].start_ns, processes[a].pid) <
           std::tuple(processes[b].start_ns, processes[b].pid);
  };
  std::sort(order.begin(), order.end(), earlier);
  if (order.size() > 1) {
    std::stable_sort(order.begin() + 1, order.end(),
                     [&](size_t a, size_t b) { return processes[a].cpu_ns > processes[b].cpu_ns; });
  }
  return order;
}

// A row: where its bars start, and where they end.
class Lane {
 public:
  bool take(const ProcessBar& bar) {
    const auto after = bars_.upper_bound(bar.start_ns);
    if (after != bars_.end() && after->first < bar.end_ns) return false;
    if (after != bars_.begin() && std::prev(after)->second > bar.start_ns) return false;
    return bars_.emplace(bar.start_ns, std::max(bar.end_ns, bar.start_ns + 1)).second;
  }

 private:
  std::map<int64_t, int64_t> bars_;
};

void fold(const ProcessBar& bar, int64_t length_ns, ProcessLanes& lanes) {
  ++lanes.folded;
  lanes.folded_alive.resize(kFoldedBuckets);
  const auto bucket = [&](int64_t time_ns) {
    const double place = static_cast<double>(time_ns) /
                         static_cast<double>(std::max<int64_t>(length_ns, 1)) * kFoldedBuckets;
    return std::min(static_cast<size_t>(place), kFoldedBuckets - 1);
  };
  for (size_t i = bucket(bar.start_ns); i <= bucket(bar.end_ns); ++i) ++lanes.folded_alive[i];
}

}  // namespace

ProcessLanes lay_out_processes(const Summary& summary) {
  ProcessLanes lanes;
  std::vector<Lane> rows;
  for (const size_t number : by_weight(summary.tables->rows.of<Process>())) {
    ProcessBar bar = bar_of(summary, number);
    auto row =
        lanes.bars.size() == kMostBars
            ? rows.end()
            : std::find_if(rows.begin(), rows.end(), [&](Lane& lane) { return lane.take(bar); });
    if (row == rows.end() && rows.size() < kMostLanes && lanes.bars.size() < kMostBars) {
      row = rows.emplace(rows.end());
      row->take(bar);
    }
    if (row == rows.end()) {
      fold(bar, summary.duration_ns, lanes);
      continue;
    }
    bar.lane = static_cast<size_t>(row - rows.begin());
    lanes.bars.push_back(bar);
  }
  lanes.lanes = rows.size();
  std::stable_sort(
      lanes.bars.begin(), lanes.bars.end(),
      [](const ProcessBar& a, const ProcessBar& b) { return a.start_ns < b.start_ns; });
  return lanes;
}

}  // namespace fathom
