// SPDX-License-Identifier: Apache-2.0
#include "record/sample_order.h"

#include <algorithm>
#include <tuple>

namespace fathom {
namespace {

constexpr size_t kFewestRowsPerGroup = 10;

}  // namespace

size_t SampleOrder::HashOf::operator()(const Kind& kind) const {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // mixes the low bits, in which ids differ, upwards
  const uint64_t names = uint64_t{index_of(kind.state)} << 32 | index_of(kind.event);
  return (names * kOdd + index_of(kind.thread)) * kOdd >> 32;
}

size_t SampleOrder::group_of(const Sample& sample) {
  const Kind kind{sample.state, sample.event, sample.thread};
  const auto [entry, added] = numbers_.try_emplace(kind, groups_.size());
  if (added) groups_.push_back({kind});
  return entry->second;
}

void SampleOrder::place_groups() {
  std::vector<size_t> order(groups_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [this](size_t i) {
    const Kind& kind = groups_[i].kind;
    return std::tuple(kind.state, kind.event, kind.thread);
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  size_t next = 0;
  for (const size_t group : order) {
    groups_[group].next = next;
    next += groups_[group].count;
  }
}

void SampleOrder::apply(std::vector<Sample>& samples) {
  numbers_.clear();
  groups_.clear();
  group_of_row_.resize(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    const size_t group = group_of(samples[i]);
    ++groups_[group].count;
    group_of_row_[i] = static_cast<uint32_t>(group);
  }
  if (groups_.size() * kFewestRowsPerGroup >= samples.size()) return;
  place_groups();
  sorted_.resize(samples.size());
  for (size_t i = 0; i < samples.size(); ++i)
    sorted_[groups_[group_of_row_[i]].next++] = samples[i];
  samples.swap(sorted_);
}

}  // namespace fathom
