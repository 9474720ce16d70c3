// SPDX-License-Identifier: Apache-2.0
// Reads one line of what applications and programs say of themselves. Forms, all of them also with
// "unit" or "type" (TIMER: s, RATE: 1/s, NUMBER: none) and a time:
//
//   {"name":"loss","value":0.25}                      one value
//   {"loss":0.25,"accuracy":0.9}                      some
//   {"loss":{"value":0.25,"timestamp":1700000000.5}}  the same with more of each
//   {"mark":"epoch 3"}                                a moment
//   {"fathom_dropped":12}                             what the sender could not send
//   loss 0.25 unit                                    words, where read_words is asked
//
// "timestamp" is seconds since 1970, "time_ns" CLOCK_MONOTONIC. Belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace fathom {

struct MetricTime {
  std::optional<int64_t> monotonic_ns;
  std::optional<double> real_s;
};

// Its texts are valid during the call.
struct Metric {
  std::string_view name, unit;
  double value = 0;
  MetricTime time;
};

class MetricListener {
 public:
  virtual ~MetricListener() = default;
  virtual void metric(const Metric& metric) = 0;
  virtual void mark(std::string_view text, const MetricTime& time) = 0;
  virtual void lost(int64_t count) = 0;
};

class MetricReader {
 public:
  static constexpr size_t kMostNameBytes = 256;
  static constexpr size_t kMostUnitBytes = 64;
  static constexpr size_t kMostMarkBytes = 4096;

  MetricReader();
  ~MetricReader();

  // False: the line, or something in it, makes no sense; what does is told all the same.
  bool read_json(std::string_view line, MetricListener& listener);
  static bool read_words(std::string_view line, MetricListener& listener);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;  // made when it is needed
};

}  // namespace fathom
