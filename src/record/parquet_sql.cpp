// SPDX-License-Identifier: Apache-2.0
#include "record/parquet_sql.h"

#include <algorithm>

namespace fathom {

namespace {

// A pattern that only this path fits, as SQL.
std::string pattern_of(std::string_view path) {
  std::string pattern;
  for (const char c : path) {
    const bool special = c == '*' || c == '?' || c == '[';
    pattern += special ? std::string("[") + c + "]" : std::string(1, c);
  }
  return sql_text(pattern);
}

}  // namespace

std::string read_parquet_sql(std::string_view path) {
  return "read_parquet(" + pattern_of(path) + ", hive_partitioning = false)";
}

Status count_parquet_rows(DuckConnection& connection, const Recording& recording, const char* table,
                          const std::string& path) {
  auto result = connection.query("SELECT sum(num_rows)::BIGINT FROM parquet_file_metadata(" +
                                 pattern_of(path) + ")");
  if (!result.ok()) return parquet_error(std::move(result).error(), path);
  TRY_ASSIGN(const int64_t rows, result.value().next_number());
  recording.found_rows(table, rows);
  return {};
}

Result<std::vector<std::string>> parquet_columns(DuckConnection& connection,
                                                 const std::string& path) {
  auto rows = connection.query("SELECT * FROM " + read_parquet_sql(path) + " LIMIT 0");
  if (!rows.ok()) return parquet_error(std::move(rows).error(), path);
  std::vector<std::string> names;
  for (size_t i = 0; i < rows.value().column_count(); ++i)
    names.push_back(rows.value().column_name(i));
  return names;
}

std::string column_sql(const Column& column, std::span<const std::string> present) {
  const bool there = std::find(present.begin(), present.end(), column.name) != present.end();
  return "CAST(" + (there ? sql_name(column.name) : std::string("NULL")) + " AS " +
         sql_type(column.type) + ")";
}

Error parquet_error(Error error, const std::string& path) {
  if (const size_t end = error.message.find('\n'); end != std::string::npos)
    error.message.resize(end);
  const bool other = error.code == Code::kNoSpace || error.message.starts_with("Out of Memory") ||
                     error.message.find("Permission denied") != std::string::npos;
  if (other) return std::move(error).within("read " + path);
  return Error{Code::kCorrupt, path + " is damaged",
               "copy the recording again from where it was made, or unpack it again if it was "
               "packed; the other tables can be asked: fathom query RUN --schema"};
}

}  // namespace fathom
