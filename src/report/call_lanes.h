// SPDX-License-Identifier: Apache-2.0
// Calls of the CUDA driver and of libraries above it, and what ran on devices, as bars in rows: one
// for each thread and layer, and for each stream of a device. Bounded: the longest bars, where
// there are more than fit. Belongs to one thread until it is built.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/batch.h"

namespace fathom {

constexpr size_t kMostCallBars = 20'000;
constexpr size_t kMostCallLanes = 12;

struct CallBar {
  int64_t start_ns = 0, duration_ns = 0;
  size_t name = 0;
};

struct CallLane {
  std::string title;
  std::vector<CallBar> bars;  // by start
};

struct CallLanes {
  std::vector<CallLane> lanes;
  std::vector<std::string> names;
  int64_t left_out = 0;  // bars that are not here
};

class CallLanesBuilder {
 public:
  explicit CallLanesBuilder(int64_t start_ns) : start_ns_(start_ns) {}
  void add(const Batch& batch);
  CallLanes finish();

 private:
  size_t name_of(const Span& span, const Dictionary& names);
  void drop_short();

  int64_t start_ns_;
  std::map<std::string, std::vector<CallBar>> lanes_;
  std::map<std::string, size_t> numbers_;
  std::vector<std::string> names_;
  size_t bars_ = 0;
  int64_t left_out_ = 0;
};

}  // namespace fathom
