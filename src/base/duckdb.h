// SPDX-License-Identifier: Apache-2.0
// DuckDB with owners and Results: a database in memory, connections to it, results read chunk by
// chunk. A database may be shared by threads; a connection and its results belong to one thread at
// a time. Results must go before their connection, connections before their database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/duckdb_api.h"
#include "base/result.h"

namespace fathom {

struct DuckOptions {
  int64_t memory_limit_bytes = 0;  // 0: DuckDB's own, 80 % of the machine's
  int threads = 0;                 // 0: one a core
  std::string temp_folder = {};    // where it spills to; empty: it may not spill
};

// Owns one handle of the C interface and gives it back by `Destroy`.
template <class Handle, auto Destroy>
class DuckHandle {
 public:
  DuckHandle() = default;
  explicit DuckHandle(Handle handle) : handle_(handle) {}
  DuckHandle(DuckHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  DuckHandle& operator=(DuckHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  DuckHandle(const DuckHandle&) = delete;
  DuckHandle& operator=(const DuckHandle&) = delete;
  ~DuckHandle() {
    if (handle_ != nullptr) (loaded_duck_api().*Destroy)(&handle_);
  }

  [[nodiscard]] Handle get() const { return handle_; }
  [[nodiscard]] Handle* out() { return &handle_; }

 private:
  Handle handle_ = nullptr;
};

using DuckType = DuckHandle<duckdb_logical_type, &DuckApi::destroy_logical_type>;
using DuckChunk = DuckHandle<duckdb_data_chunk, &DuckApi::destroy_data_chunk>;

class DuckResult {
 public:
  explicit DuckResult(duckdb_result result) : result_(result) {}
  DuckResult(DuckResult&& other) noexcept : result_(std::exchange(other.result_, {})) {}
  DuckResult& operator=(DuckResult&& other) noexcept {
    std::swap(result_, other.result_);
    return *this;
  }
  DuckResult(const DuckResult&) = delete;
  DuckResult& operator=(const DuckResult&) = delete;
  ~DuckResult();

  [[nodiscard]] size_t column_count() const;
  [[nodiscard]] std::string column_name(size_t column) const;
  [[nodiscard]] DuckType column_type(size_t column) const;
  // Rows were asked for, not just a change.
  [[nodiscard]] bool has_rows() const;
  // The next rows; a chunk whose get() is null is the end.
  Result<DuckChunk> next();
  // Of a query that gives one BIGINT: that, or 0 where it gives none.
  Result<int64_t> next_number();

 private:
  mutable duckdb_result result_{};
};

class DuckDatabase {
 public:
  // In memory. Extensions are neither fetched nor loaded.
  static Result<DuckDatabase> open(const DuckOptions& options = {});

 private:
  friend class DuckConnection;
  DuckHandle<duckdb_database, &DuckApi::close> database_;
};

class DuckConnection {
 public:
  static Result<DuckConnection> open(DuckDatabase& database);

  // Executes all statements of `sql` and gives the rows of the last as they are made. kInvalid with
  // DuckDB's own words if it cannot.
  Result<DuckResult> query(const std::string& sql);
  Status execute(const std::string& sql);
  // As above, but first asks `allow` about the kind of each statement.
  using Allow = Status (*)(duckdb_statement_type);
  Result<DuckResult> query(const std::string& sql, Allow allow);

  [[nodiscard]] duckdb_connection get() const { return connection_.get(); }

 private:
  DuckHandle<duckdb_connection, &DuckApi::disconnect> connection_;
};

// A cell of a vector holds something.
inline bool duck_valid(const uint64_t* validity, size_t row) {
  return validity == nullptr || ((validity[row / 64] >> (row % 64)) & 1U) != 0;
}
inline std::string_view duck_text(const duckdb_string_t& text) {
  const uint32_t length = text.value.inlined.length;
  return {length <= sizeof text.value.inlined.inlined ? text.value.inlined.inlined
                                                      : text.value.pointer.ptr,
          length};
}

// 'text' and "name", quoted for SQL.
std::string sql_text(std::string_view text);
std::string sql_name(std::string_view name);

}  // namespace fathom
