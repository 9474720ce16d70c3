// SPDX-License-Identifier: Apache-2.0
// Sends JSON lines to a job and says which of them the hub could not read. Belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sink/hub_link.h"

namespace fathom {

class LineSender {
 public:
  // Looks whether the job is there.
  static Result<LineSender> make(const HubTarget& target, const std::string& run);
  // Whole lines. Bad ones are logged by their number since the start.
  Status send(std::string_view lines);
  [[nodiscard]] int64_t bad() const { return bad_; }
  [[nodiscard]] int64_t lines() const { return lines_; }

 private:
  explicit LineSender(HubLink link) : link_(std::move(link)) {}
  Status say_bad(const std::string& json);

  HubLink link_;
  uint64_t sequence_ = 0;
  int64_t lines_ = 0, bad_ = 0;
};

}  // namespace fathom
