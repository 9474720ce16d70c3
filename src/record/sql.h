// SPDX-License-Identifier: Apache-2.0
// Recordings as SQL: one view a table over all recordings given, each row led by its run's id and label. A
// journal is read as it stands, Parquet where it was converted; a table that a recording does not have is
// empty. The SQL can read nothing else: no file, no network, no extension. Belongs to one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/duckdb.h"
#include "record/recording.h"

namespace fathom {

struct SqlRows {
  DuckResult result;
};

class SqlSession {
 public:
  static Result<std::unique_ptr<SqlSession>> open(std::vector<Recording> recordings);

  // Rows of the last statement, as they are made. They must go before the session.
  Result<SqlRows> query(const std::string& sql);

 private:
  SqlSession(std::vector<Recording> recordings, DuckDatabase database, DuckConnection connection)
      : recordings_(std::move(recordings)), database_(std::move(database)), connection_(std::move(connection)) {}

  std::vector<Recording> recordings_;
  DuckDatabase database_;
  DuckConnection connection_;
};

}  // namespace fathom
