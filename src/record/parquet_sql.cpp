// SPDX-License-Identifier: Apache-2.0
#include "record/parquet_sql.h"

#include <algorithm>

namespace fathom {

std::string read_parquet_sql(std::string_view path) {
  std::string pattern;
  for (const char c : path) {
    const bool special = c == '*' || c == '?' || c == '[';
    pattern += special ? std::string("[") + c + "]" : std::string(1, c);
  }
  return "read_parquet(" + sql_text(pattern) + ", hive_partitioning = false)";
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
  if (error.code != Code::kNoSpace) error.code = Code::kCorrupt;
  return std::move(error).within("read " + path);
}

}  // namespace fathom
