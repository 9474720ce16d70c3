// SPDX-License-Identifier: Apache-2.0
// One metric over time, of bounded size however long the run was, as steps: each has one value from
// one time to another. Where there are too many, buckets of equal length keep the minimum, the mean
// weighted by length, and the maximum, so that a short peak stays visible. Owned and used by one
// report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom {

constexpr size_t kMostCurvePoints = 1000;

// A step. The next one begins where it ends.
struct CurvePoint {
  int64_t from_ns = 0,
          to_ns = 0;  // since the start of the run; equal: a reading that nothing follows
  double least = 0, value = 0, most = 0;
};

// Weighted by the length of the steps; 0 without any.
double mean_of(const std::vector<CurvePoint>& points);

// Steps of readings, each of which holds until the next one, or of intervals: one kind per builder.
class CurveBuilder {
 public:
  explicit CurveBuilder(int64_t length_ns) : length_ns_(length_ns > 0 ? length_ns : 1) {}

  // In any order.
  void add(int64_t time_ns, double value);
  // What is outside the run is cut off.
  void add_interval(int64_t from_ns, int64_t to_ns, double value);
  [[nodiscard]] bool empty() const { return single_.empty() && buckets_.empty(); }
  // By time.
  [[nodiscard]] std::vector<CurvePoint> points() const;

 private:
  struct Bucket {
    double least = 0, sum = 0, most = 0, weight = 0;
  };

  void add_point(const CurvePoint& point);
  void add_to_buckets(const CurvePoint& point);
  void add_to_bucket(size_t bucket, double weight, double value);
  [[nodiscard]] size_t bucket_of(int64_t time_ns) const;
  [[nodiscard]] int64_t start_of(size_t bucket) const;
  void add_buckets(std::vector<CurvePoint>& points) const;

  int64_t length_ns_;
  int64_t first_ns_ = INT64_MAX, last_ns_ = 0;  // of all that was added
  std::vector<CurvePoint> single_;              // while they are few
  std::vector<Bucket> buckets_;                 // else
};

// What a cumulative counter had come to. Its time may lie outside the run: rates need the real one.
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

// Makes a rate, per second, of a cumulative counter. Looks that follow each other sooner than
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
