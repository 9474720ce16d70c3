// SPDX-License-Identifier: Apache-2.0
// The usual questions to recordings, as SQL over the views of record/sql.h. `fathom query RUN NAME`
// asks one. Constants: any thread.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "record/sql.h"

namespace fathom {

struct NamedQuery {
  const char* name;
  const char* summary;
  const char* sql;
  // What it means that there is no row, for people who wonder.
  const char* when_empty = "the recording has no rows for this question";
};

std::span<const NamedQuery> named_queries();
// Recordings with the macros that named queries use: io_class(layer, name) of report/io_class.h.
Result<std::unique_ptr<SqlSession>> open_query_session(std::vector<Recording> recordings);
const NamedQuery* find_named_query(std::string_view name);

}  // namespace fathom
