// SPDX-License-Identifier: Apache-2.0
// The usual questions to recordings, as SQL over the views of record/sql.h. `fathom query RUN NAME`
// asks one. Constants: any thread.
#pragma once

#include <span>
#include <string_view>

namespace fathom {

struct NamedQuery {
  const char* name;
  const char* summary;
  const char* sql;
  // What it means that there is no row, for people who wonder.
  const char* when_empty = "the recording has no rows for this question";
};

std::span<const NamedQuery> named_queries();
const NamedQuery* find_named_query(std::string_view name);

}  // namespace fathom
