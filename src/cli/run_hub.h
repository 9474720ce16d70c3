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
  // From --hub and --job; without them it does nothing. An error if the hub responds that the job
  // or the token is wrong; a hub that does not respond is only reported.
  static Result<RunHub> from(const Arguments& arguments);
  // The journal has been made.
  Status begin(const std::string& run, const std::string& journal);
  // The journal is complete. False: not all of it has arrived, which was logged with the command
  // that ships the rest; the journal must stay.
  bool end(const std::string& folder);

 private:
  std::optional<HubTarget> target_;
  std::string token_file_;  // as it was given
  bool is_away_ = false;    // the hub did not respond at the start
  std::unique_ptr<JournalShipper> shipper_;
};

}  // namespace fathom
