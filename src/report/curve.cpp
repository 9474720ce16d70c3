// SPDX-License-Identifier: Apache-2.0
#include "report/curve.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"

namespace fathom {
namespace {

constexpr size_t kMostLooks = 20'000;
constexpr int64_t kKeptLooks = 5'000;

}  // namespace

double mean_of(const std::vector<CurvePoint>& points) {
  double sum = 0, length_ns = 0;
  for (const CurvePoint& point : points) {
    const auto held_ns = static_cast<double>(point.to_ns - point.from_ns);
    sum += point.value * held_ns;
    length_ns += held_ns;
  }
  if (length_ns > 0) return sum / length_ns;
  return points.empty() ? 0 : points.back().value;
}

void CurveBuilder::add(int64_t time_ns, double value) {
  const int64_t at_ns = std::clamp<int64_t>(time_ns, 0, length_ns_);
  add_point({at_ns, at_ns, value, value, value});
}

void CurveBuilder::add_interval(int64_t from_ns, int64_t to_ns, double value) {
  from_ns = std::max<int64_t>(from_ns, 0);
  to_ns = std::min(to_ns, length_ns_);
  if (to_ns > from_ns) add_point({from_ns, to_ns, value, value, value});
}

void CurveBuilder::add_point(const CurvePoint& point) {
  if (!std::isfinite(point.value)) return;
  first_ns_ = std::min(first_ns_, point.from_ns);
  last_ns_ = std::max(last_ns_, point.to_ns);
  if (buckets_.empty() && single_.size() < kMostCurvePoints) {
    single_.push_back(point);
    return;
  }
  if (buckets_.empty()) {
    buckets_.resize(kMostCurvePoints);
    for (const CurvePoint& known : single_) add_to_buckets(known);
    single_.clear();
  }
  add_to_buckets(point);
}

size_t CurveBuilder::bucket_of(int64_t time_ns) const {
  const double place =
      static_cast<double>(time_ns) / static_cast<double>(length_ns_) * kMostCurvePoints;
  return std::min(static_cast<size_t>(place), kMostCurvePoints - 1);
}

int64_t CurveBuilder::start_of(size_t bucket) const {
  return static_cast<int64_t>(static_cast<double>(length_ns_) / kMostCurvePoints *
                              static_cast<double>(bucket));
}

// A reading counts once, an interval in each bucket as long as it is there.
void CurveBuilder::add_to_buckets(const CurvePoint& point) {
  if (point.from_ns == point.to_ns) return add_to_bucket(bucket_of(point.from_ns), 1, point.value);
  for (size_t at = bucket_of(point.from_ns); at < kMostCurvePoints; ++at) {
    const int64_t from_ns = std::max(point.from_ns, start_of(at));
    const int64_t to_ns = std::min(point.to_ns, start_of(at + 1));
    if (to_ns > from_ns) add_to_bucket(at, static_cast<double>(to_ns - from_ns), point.value);
    if (to_ns == point.to_ns) break;
  }
}

void CurveBuilder::add_to_bucket(size_t at, double weight, double value) {
  Bucket& bucket = buckets_[at];
  const bool first = bucket.weight == 0;
  bucket.least = first ? value : std::min(bucket.least, value);
  bucket.most = first ? value : std::max(bucket.most, value);
  bucket.sum += value * weight;
  bucket.weight += weight;
}

void CurveBuilder::add_buckets(std::vector<CurvePoint>& points) const {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const Bucket& bucket = buckets_[i];
    if (bucket.weight == 0) continue;
    const int64_t from_ns = std::max(first_ns_, start_of(i));
    points.push_back({from_ns, std::max(from_ns, std::min(last_ns_, start_of(i + 1))), bucket.least,
                      bucket.sum / bucket.weight, bucket.most});
  }
}

std::vector<CurvePoint> CurveBuilder::points() const {
  std::vector<CurvePoint> points = single_;
  add_buckets(points);
  std::stable_sort(points.begin(), points.end(),
                   [](const CurvePoint& a, const CurvePoint& b) { return a.from_ns < b.from_ns; });
  for (size_t i = 1; i < points.size(); ++i) points[i - 1].to_ns = points[i].from_ns;
  return points;
}

void Looks::add(const Look& look) {
  if (!std::isfinite(look.total)) return;
  looks_.push_back(look);
  if (looks_.size() >= kMostLooks) thin_out();
}

std::vector<Look> Looks::by_time() const {
  std::vector<Look> sorted = looks_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Look& a, const Look& b) { return a.time_ns < b.time_ns; });
  return sorted;
}

void Looks::thin_out() {
  const std::vector<Look> sorted = by_time();
  const int64_t part_ns = std::max<int64_t>(1, length_ns_ / kKeptLooks);
  looks_.clear();
  for (size_t i = 0; i < sorted.size(); ++i) {
    const bool last =
        i + 1 == sorted.size() || sorted[i].time_ns / part_ns != sorted[i + 1].time_ns / part_ns;
    if (last || i == 0) looks_.push_back(sorted[i]);
  }
}

void RateBuilder::add(const Look& look) {
  if (!looks_.empty() && look.time_ns <= looks_.back().time_ns) return;
  // The last one has only just been opened, and is no step yet.
  if (looks_.size() > 1 && !is_step(looks_[looks_.size() - 2], looks_.back())) looks_.pop_back();
  looks_.push_back(look);
  if (looks_.size() < 3 || !is_step(looks_[1], looks_[2])) return;
  add_rate(curve_, looks_[0], looks_[1]);
  looks_.erase(looks_.begin());
}

void RateBuilder::add_rate(CurveBuilder& curve, const Look& from, const Look& to) {
  const auto step_ns = static_cast<double>(to.time_ns - from.time_ns);
  const double rate = std::max(0.0, to.total - from.total) * kNsPerSecond / step_ns;
  curve.add_interval(from.time_ns, to.time_ns, rate);
}

std::vector<CurvePoint> RateBuilder::points() const {
  CurveBuilder whole = curve_;
  if (looks_.size() > 1) add_rate(whole, looks_.front(), looks_.back());
  return whole.points();
}

}  // namespace fathom
