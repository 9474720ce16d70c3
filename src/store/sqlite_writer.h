// SPDX-License-Identifier: Apache-2.0
// Applies changes within an open transaction of a SQLite store. Belongs to whoever holds the
// store's write lock.
#pragma once

#include "store/sqlite.h"
#include "store/store.h"

namespace fathom {

class SqliteWriter {
 public:
  Status prepare(Sqlite& sqlite);
  // A change that is not applied leaves no trace.
  Result<Applied> apply(Sqlite& sqlite, const Change& change);

 private:
  Result<Applied> check(const Change& change);
  Status write(const Change& change);
  Status write_runs(const Change& change);
  Status write_rows(const Change& change);
  Status write_moments(const Change& change);

  SqliteStatement job_, sequence_, add_sum_, add_unit_, next_row_, add_row_, advance_, gauge_,
      mark_, trim_marks_;
};

}  // namespace fathom
