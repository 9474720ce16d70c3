// SPDX-License-Identifier: Apache-2.0
// Which samples a report about stacks is made of. Plain data: any thread.
#pragma once

#include <string>

#include "record/records.h"

namespace fathom {

struct ProfileFilter {
  std::string event = {};          // empty: the one with the most samples
  std::string process = {};        // name or pid; empty: all
  std::string thread = {};         // name or tid; empty: all
  Maybe from_ns = {}, to_ns = {};  // since the start of the run
  bool lines = false;              // a function at another source line is another one
};

}  // namespace fathom
