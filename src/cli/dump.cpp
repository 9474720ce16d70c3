// SPDX-License-Identifier: Apache-2.0
#include "cli/dump.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "base/duckdb.h"
#include "base/text.h"

namespace fathom {
namespace {

std::string target_of(const DumpWish& wish, bool csv) {
  return fmt::format("/api/v1/jobs/{}/{}{}", wish.job, wish.rows ? "rows" : "profile",
                     csv && !wish.rows ? "?as=csv" : "");
}

Status fetch(HubApi& api, const std::string& target, const std::string& file) {
  DumpFile out(file);
  TRY(out.open());
  TRY(api.stream(target, [&](std::string_view part) { return out.write(part); }));
  return out.finish();
}

// Rows of `source` (SQL) into `file`.
Status copy_by_duckdb(const std::string& source, const std::string& file, const std::string& form) {
  TRY_ASSIGN(DuckDatabase database, DuckDatabase::open());
  TRY_ASSIGN(DuckConnection connection, DuckConnection::open(database));
  const std::string part = file + ".part";
  TRY(connection.execute(
      fmt::format("COPY (SELECT * FROM {}) TO {} ({})", source, sql_text(part),
                  form == "csv" ? "FORMAT csv, HEADER true" : "FORMAT parquet, COMPRESSION zstd")));
  if (rename(part.c_str(), file.c_str()) != 0) return errno_error("write " + file);
  return {};
}

// The columns that rows have, whichever they are.
std::string rows_source(const std::string& file) {
  return fmt::format(
      "read_json({}, format = 'newline_delimited', sample_size = -1, "
      "maximum_object_size = 67108864)",
      sql_text(file));
}

std::string sums_source(const std::string& file) {
  return fmt::format(
      "read_csv({}, header = true, quote = '\"', escape = '\"', max_line_size = 16777216, columns "
      "= "
      "{{'node': 'VARCHAR', 'execname': 'VARCHAR', 'event': 'VARCHAR', 'unit': 'VARCHAR', "
      "'sum': 'BIGINT'}})",
      sql_text(file));
}

}  // namespace

Status dump_job(HubApi& api, const DumpWish& wish) {
  const bool by_duckdb = wish.as == "parquet" || (wish.as == "csv" && wish.rows);
  if (!by_duckdb) return fetch(api, target_of(wish, wish.as == "csv"), wish.file);
  if (wish.file.empty()) return Error{Code::kInvalid, "this form needs a file", "-o job.parquet"};
  const std::string raw = wish.file + ".raw";
  auto made = fetch(api, target_of(wish, !wish.rows), raw);
  std::error_code ignored;
  if (made.ok() && wish.rows && std::filesystem::file_size(raw, ignored) == 0)
    made = Error{Code::kNotFound, fmt::format("job {} has no benchmark rows", wish.job)};
  if (made.ok())
    made = copy_by_duckdb(wish.rows ? rows_source(raw) : sums_source(raw), wish.file, wish.as);
  std::filesystem::remove(raw, ignored);
  return made;
}

Result<bool> confirm_removal(const HubJob& job) {
  TRY(write_all(STDERR_FILENO, fmt::format("Remove job {} ({}) with {} rows and all sums? [y/N] ",
                                           job.id, printable(job.description), job.rows)));
  std::string line;
  std::getline(std::cin, line);
  return line == "y" || line == "Y" || line == "yes";
}

}  // namespace fathom
