// SPDX-License-Identifier: Apache-2.0
// One figure over time, of bounded size however long the run was: where there are too many points,
// buckets of equal length keep the least, the mean and the most of what fell into them, so that a
// peak of one moment stays visible. Owned and used by one report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom {

constexpr size_t kMostCurvePoints = 1000;

struct CurvePoint {
  int64_t time_ns = 0;  // since the start of the run
  double least = 0, value = 0, most = 0;
};

class CurveBuilder {
 public:
  explicit CurveBuilder(int64_t length_ns) : length_ns_(length_ns > 0 ? length_ns : 1) {}

  void add(int64_t time_ns, double value);
  [[nodiscard]] bool empty() const { return single_.empty() && buckets_.empty(); }
  // By time.
  [[nodiscard]] std::vector<CurvePoint> points() const;

 private:
  struct Bucket {
    double least = 0, sum = 0, most = 0;
    int64_t count = 0;
  };

  void add_to_bucket(int64_t time_ns, double value);

  int64_t length_ns_;
  std::vector<CurvePoint> single_;  // while they are few
  std::vector<Bucket> buckets_;     // else
};

// What a figure that adds up had come to.
struct Look {
  int64_t time_ns = 0;
  double total = 0;
};

// Looks in any order: tables keep none. Of very many, the last of each moment.
class Looks {
 public:
  explicit Looks(int64_t length_ns) : length_ns_(length_ns > 0 ? length_ns : 1) {}

  void add(const Look& look);
  [[nodiscard]] std::vector<Look> by_time() const;

 private:
  void thin_out();

  int64_t length_ns_;
  std::vector<Look> looks_;
};

// Makes a rate, per second, of a figure that adds up. Looks that follow each other sooner than
// `shortest_ns` are taken together: their rate would be noise.
class RateBuilder {
 public:
  RateBuilder(int64_t length_ns, int64_t shortest_ns)
      : curve_(length_ns), shortest_ns_(shortest_ns) {}

  // In the order of time.
  void add(const Look& look);
  [[nodiscard]] std::vector<CurvePoint> points() const;

 private:
  static void add_rate(CurveBuilder& curve, const Look& from, const Look& to);
  [[nodiscard]] bool is_step(const Look& from, const Look& to) const {
    return to.time_ns - from.time_ns >= shortest_ns_;
  }

  CurveBuilder curve_;
  int64_t shortest_ns_;
  std::vector<Look> looks_;  // up to three: a step that waits for the next to be long enough
};

}  // namespace fathom
