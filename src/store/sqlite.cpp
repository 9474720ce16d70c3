// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite.h"

namespace fathom {
namespace {

Error sqlite_error(sqlite3* handle, int result) {
  Code code = Code::kIo;
  if (result == SQLITE_FULL) code = Code::kNoSpace;
  if (result == SQLITE_CONSTRAINT) code = Code::kInvalid;
  if (result == SQLITE_CORRUPT || result == SQLITE_NOTADB) code = Code::kCorrupt;
  if (result == SQLITE_PERM || result == SQLITE_READONLY || result == SQLITE_CANTOPEN)
    code = Code::kPermission;
  return Error{code, std::string("SQLite: ") +
                         (handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(result))};
}

}  // namespace

SqliteStatement& SqliteStatement::bind(int place, std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text64(statement_.get(), place, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

SqliteStatement& SqliteStatement::bind(int place, int64_t number) {
  sqlite3_bind_int64(statement_.get(), place, number);
  return *this;
}

SqliteStatement& SqliteStatement::bind_real(int place, double number) {
  sqlite3_bind_double(statement_.get(), place, number);
  return *this;
}

Result<bool> SqliteStatement::step() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  sqlite3* handle = sqlite3_db_handle(statement_.get());
  if (result != SQLITE_DONE) {
    Error error = sqlite_error(handle, sqlite3_extended_errcode(handle) & 0xFF);
    reset();
    return error;
  }
  reset();
  return false;
}

Status SqliteStatement::run() {
  while (true) {
    TRY_ASSIGN(const bool more, step());
    if (!more) return {};
  }
}

std::string SqliteStatement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<size_t>(size)};
}

Result<Sqlite> Sqlite::open(const std::string& file) {
  Sqlite sqlite;
  sqlite3* handle = nullptr;
  const int result =
      sqlite3_open_v2(file.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  sqlite.handle_.reset(handle);
  if (result != SQLITE_OK) return sqlite_error(handle, result).within("open " + file);
  sqlite3_busy_timeout(handle, 10'000);
  return sqlite;
}

Result<SqliteStatement> Sqlite::prepare(std::string_view sql) {
  SqliteStatement statement;
  sqlite3_stmt* raw = nullptr;
  const int result = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  statement.statement_.reset(raw);
  if (result != SQLITE_OK) return sqlite_error(handle_.get(), result);
  return statement;
}

Status Sqlite::execute(const std::string& sql) {
  const int result = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return sqlite_error(handle_.get(), result & 0xFF);
  return {};
}

}  // namespace fathom
