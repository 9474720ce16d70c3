// SPDX-License-Identifier: Apache-2.0
// Which samples a report about stacks is made of, and what is kept of them. Plain data: any thread.
#pragma once

#include <string>

#include "record/records.h"

namespace fathom {

// What stands below everything else in a call tree.
enum class GroupBy { kNone, kHost, kProcess, kThread, kRank, kConfig };

struct ProfileFilter {
  std::string event = {};          // empty: the one with the most samples
  std::string process = {};        // name or pid; empty: all
  std::string thread = {};         // name or tid; empty: all
  Maybe from_ns = {}, to_ns = {};  // since the start of the run
  bool lines = false;              // a function at another source line is another one
  Maybe rate_hz = {};              // only samples of this rate
  GroupBy group_by = GroupBy::kNone;

  // For whoever needs more than sums.
  bool compared = false;    // builds of one program are one
  bool keep_parts = false;  // Profile::parts: whose samples a node's are
  bool all_events = false;  // they have also those of other events
  bool keep_times = false;  // and stay apart by time
};

}  // namespace fathom
