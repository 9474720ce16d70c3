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

void CurveBuilder::add(int64_t time_ns, double value) {
  if (!std::isfinite(value)) return;
  time_ns = std::clamp<int64_t>(time_ns, 0, length_ns_);
  if (buckets_.empty() && single_.size() < kMostCurvePoints) {
    single_.push_back({time_ns, value, value, value});
    return;
  }
  if (buckets_.empty()) {
    buckets_.resize(kMostCurvePoints);
    for (const CurvePoint& point : single_) add_to_bucket(point.time_ns, point.value);
    single_.clear();
  }
  add_to_bucket(time_ns, value);
}

void CurveBuilder::add_to_bucket(int64_t time_ns, double value) {
  const double place =
      static_cast<double>(time_ns) / static_cast<double>(length_ns_) * kMostCurvePoints;
  Bucket& bucket = buckets_[std::min(static_cast<size_t>(place), kMostCurvePoints - 1)];
  bucket.least = bucket.count == 0 ? value : std::min(bucket.least, value);
  bucket.most = bucket.count == 0 ? value : std::max(bucket.most, value);
  bucket.sum += value;
  ++bucket.count;
}

std::vector<CurvePoint> CurveBuilder::points() const {
  std::vector<CurvePoint> points = single_;
  const double width = static_cast<double>(length_ns_) / kMostCurvePoints;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const Bucket& bucket = buckets_[i];
    if (bucket.count == 0) continue;
    points.push_back({static_cast<int64_t>((static_cast<double>(i) + 0.5) * width), bucket.least,
                      bucket.sum / static_cast<double>(bucket.count), bucket.most});
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const CurvePoint& a, const CurvePoint& b) { return a.time_ns < b.time_ns; });
  return points;
}

void Looks::add(const Look& look) {
  if (!std::isfinite(look.total)) return;
  looks_.push_back({std::clamp<int64_t>(look.time_ns, 0, length_ns_), look.total});
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

// The first holds from the first look on.
void RateBuilder::add_rate(CurveBuilder& curve, const Look& from, const Look& to) {
  const auto step_ns = static_cast<double>(to.time_ns - from.time_ns);
  const double rate = std::max(0.0, to.total - from.total) * kNsPerSecond / step_ns;
  if (curve.empty()) curve.add(from.time_ns, rate);
  curve.add(to.time_ns, rate);
}

std::vector<CurvePoint> RateBuilder::points() const {
  CurveBuilder whole = curve_;
  if (looks_.size() > 1) add_rate(whole, looks_.front(), looks_.back());
  return whole.points();
}

}  // namespace fathom
