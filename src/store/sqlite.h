// SPDX-License-Identifier: Apache-2.0
// SQLite with owners and Results. A connection and its statements belong to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom {

class Sqlite;

// A prepared statement, used again and again: bind, step, reset.
class SqliteStatement {
 public:
  SqliteStatement() = default;
  SqliteStatement& bind(int place, std::string_view text);
  SqliteStatement& bind(int place, int64_t number);
  SqliteStatement& bind_real(int place, double number);
  // True: a row stands there. At the end it is reset.
  Result<bool> step();
  Status run();  // to the end
  void reset() { sqlite3_reset(statement_.get()); }
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] int64_t number(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
  }
  [[nodiscard]] double real(int column) const {
    return sqlite3_column_double(statement_.get(), column);
  }

 private:
  friend class Sqlite;
  struct Free {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Free> statement_;
};

class Sqlite {
 public:
  static Result<Sqlite> open(const std::string& file);
  Result<SqliteStatement> prepare(std::string_view sql);
  Status execute(const std::string& sql);
  [[nodiscard]] int64_t changed() const { return sqlite3_changes64(handle_.get()); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace fathom
