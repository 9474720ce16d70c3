// SPDX-License-Identifier: Apache-2.0
// Selects samples of events that are faster than the rate that was asked for: of each `factor`
// samples of a CPU and sampler one, at random, which then has the weight of all of them. So a task
// that is shorter than a period of that rate is sampled in proportion to its CPU time. Counts tasks
// that start. Passes everything else on. Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "probe/raw_sample.h"

namespace fathom {

class SampleThinner final : public SampleListener {
 public:
  // By sampler. Samplers are numbered from 0, and from the number of factors on again: these are
  // the fast ones.
  explicit SampleThinner(std::vector<int64_t> factors) : factors_(std::move(factors)) {}

  // Where samples and changes go from now on; must outlive the calls.
  void aim_at(SampleListener& listener) { listener_ = &listener; }
  void on_sample(const RawSample& sample) override;
  void on_change(const TaskChange& change) override;
  [[nodiscard]] int64_t started() const { return started_; }

 private:
  // `factor` samples of one CPU and sampler, one of which is selected.
  struct Block {
    int64_t seen = 0, selected = 0;
  };

  std::vector<int64_t> factors_;
  SampleListener* listener_ = nullptr;
  std::map<std::pair<int64_t, uint32_t>, Block> blocks_;  // by CPU and sampler
  std::minstd_rand random_;  // any seed: what is sampled does not depend on it
  int64_t started_ = 0;
};

}  // namespace fathom
