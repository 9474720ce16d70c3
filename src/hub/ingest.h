// SPDX-License-Identifier: Apache-2.0
// Who sends a batch, and how what became of it is told. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "hub/committer.h"
#include "hub/http.h"

namespace fathom {

struct Sender {
  int64_t job = 0;
  RowOrigin origin;
  uint64_t sequence = 0;
  int64_t real_offset_ns = 0;
};

// From ?run=…&sequence=…&host=…&real_offset_ns=…; without a run one that was never seen.
Result<Sender> sender_of(const HttpCall& call);
Result<Sender> identify(const HttpCall& call, Sender sender);
// `more` is put behind the fields of the JSON object.
HttpReply outcome_reply(const Outcome& outcome, const std::string& more);

}  // namespace fathom
