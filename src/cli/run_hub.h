// SPDX-License-Identifier: Apache-2.0
// The part of `fathom run` that ships to a hub while it records. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/arguments.h"
#include "sink/journal_shipper.h"

namespace fathom {

class RunHub {
 public:
  // From --hub and --job; without them it does nothing. The job must be there.
  static Result<RunHub> from(const Arguments& arguments);
  // The journal has been made.
  Status begin(const std::string& run, const std::string& journal);
  // The journal is whole. False: not all of it has arrived, which was said; it must stay.
  bool end(const std::string& folder);

 private:
  std::optional<HubTarget> target_;
  std::unique_ptr<JournalShipper> shipper_;
};

}  // namespace fathom
