// SPDX-License-Identifier: Apache-2.0
// Where frames go. write() never blocks on the slow side: what it cannot take in time is dropped
// and counted. A Sink is used from one thread; what runs behind it is its own business.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace fathom {

struct SinkReport {
  int64_t bytes = 0;            // accepted and written
  int64_t dropped_records = 0;  // lost on the way
  std::optional<Error> error;   // the first that lost something
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::string frame, int64_t records) = 0;
  // Waits until everything given so far is written or lost: report() is then whole.
  virtual void settle() {}
  // The last frame; returns once everything is as durable as this sink can make it.
  virtual Status close(std::string last_frame) = 0;
  [[nodiscard]] virtual SinkReport report() const = 0;
};

struct SinkInfo {
  const char* name;
  const char* summary;
  Result<std::unique_ptr<Sink>> (*open)(const std::string& where);
};

// The table of sinks: one line each in all_sinks.cpp.
std::span<const SinkInfo> all_sinks();
Result<std::unique_ptr<Sink>> open_sink(std::string_view name, const std::string& where);

}  // namespace fathom
