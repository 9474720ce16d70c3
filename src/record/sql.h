// SPDX-License-Identifier: Apache-2.0
// Recordings as SQL: one view a table over all recordings given, each row led by its run's id and
// label. A journal is read as it stands, Parquet where it was converted; a table that a recording
// does not have is empty. The SQL can read nothing else: no file, no network, no extension. Belongs
// to one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/duckdb.h"
#include "base/signal_cleanup.h"
#include "record/recording.h"
#include "record/sql_cell.h"

namespace fathom {

// What a query gives, chunk by chunk.
struct SqlRows {
  struct Column {
    std::string name;
    CellFormat format;
  };
  std::vector<Column> columns;  // none: the statement gives no rows
  DuckResult result;
  int64_t taken = 0;  // rows that were read so far
};

class SqlSession {
 public:
  // Of what takes more memory than the limit a part goes to disk; 0: DuckDB's own limit.
  static Result<std::unique_ptr<SqlSession>> open(std::vector<Recording> recordings,
                                                  int64_t memory_limit_bytes = 0);

  // Rows of the last statement, as they are made. They must go before the session. kInvalid says
  // what is wrong with the SQL in one line.
  Result<SqlRows> query(const std::string& sql);

  // A sentence for each recording that is not complete. Reading rows may find more.
  [[nodiscard]] std::vector<std::string> damage() const;

 private:
  Result<SqlRows> rows_of(const std::string& sql);
  // An error if a table that the query names is not as it was written.
  [[nodiscard]] Status check_tables_in(const std::string& sql) const;
  // What a query failed for if it asked a table that is damaged.
  [[nodiscard]] std::optional<Error> damage_behind(const Error& error) const;
  explicit SqlSession(std::vector<Recording> recordings) : recordings_(std::move(recordings)) {}

  // Where questions larger than memory go, for this user's eyes only. Empty: there is none.
  // Removed also when a signal ends the process.
  class SpillFolder {
   public:
    SpillFolder();
    SpillFolder(const SpillFolder&) = delete;
    SpillFolder& operator=(const SpillFolder&) = delete;
    ~SpillFolder() { remove(); }
    [[nodiscard]] const std::string& path() const { return path_; }

   private:
    void remove() const;

    std::string path_;
    SignalCleanup on_signal_;
  };

  std::vector<Recording> recordings_;
  std::vector<std::string> told_damage_;  // of each, when it was converted
  SpillFolder spill_;
  DuckDatabase database_;
  DuckConnection connection_;
};

}  // namespace fathom
