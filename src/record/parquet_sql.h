// SPDX-License-Identifier: Apache-2.0
// SQL that reads a table's Parquet file as the schema of today has it: columns that an older fathom
// did not write are NULL, those of a newer one are left out. Pure functions but for
// parquet_columns and count_parquet_rows: any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/duckdb.h"
#include "record/column.h"
#include "record/recording.h"

namespace fathom {

// read_parquet('PATH'), where the path is just that and no pattern.
std::string read_parquet_sql(std::string_view path);

// Names of the columns in a file; kCorrupt if it is no Parquet.
Result<std::vector<std::string>> parquet_columns(DuckConnection& connection,
                                                 const std::string& path);

// Tells the recording how many rows a file of its has.
Status count_parquet_rows(DuckConnection& connection, const Recording& recording, const char* table,
                          const std::string& path);

// `"name"` with its type of today; NULL where the file does not have it.
std::string column_sql(const Column& column, std::span<const std::string> present);

// The error as one of a damaged file: DuckDB's message, with the file's name in front.
Error parquet_error(Error error, const std::string& path);

}  // namespace fathom
