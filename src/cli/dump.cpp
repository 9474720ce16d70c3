// SPDX-License-Identifier: Apache-2.0
#include "cli/dump.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/duckdb.h"
#include "base/text.h"
#include "cli/rows_csv.h"

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
Status copy_by_duckdb(const std::string& source, const std::string& file) {
  TRY_ASSIGN(DuckDatabase database, DuckDatabase::open());
  TRY_ASSIGN(DuckConnection connection, DuckConnection::open(database));
  const std::string part = file + ".part";
  TRY(connection.execute(fmt::format(
      "COPY (SELECT * FROM {}) TO {} (FORMAT parquet, COMPRESSION zstd)", source, sql_text(part))));
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
  std::string columns;  // without the ' that csv_quote puts before what looks like a formula
  for (const char* column : {"node", "execname", "event", "unit"})
    columns += fmt::format("regexp_replace({0}, '^''([=+@\\t\\r-])', '\\1') AS {0}, ", column);
  return fmt::format(
      "(SELECT {}sum FROM read_csv({}, header = true, quote = '\"', escape = '\"', "
      "max_line_size = 16777216, columns = {{'node': 'VARCHAR', 'execname': 'VARCHAR', "
      "'event': 'VARCHAR', 'unit': 'VARCHAR', 'sum': 'BIGINT'}}))",
      columns, sql_text(file));
}

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

// A file without a name, gone with the object.
Result<File> scratch_file() {
  std::error_code failed;
  std::string path = std::filesystem::temp_directory_path(failed) / "fathom-rows-XXXXXX";
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return errno_error("make " + path).with_hint("TMPDIR=FOLDER names another place");
  unlink(path.c_str());
  return File(fdopen(fd, "w+"), fclose);
}

Status fetch_rows_csv(HubApi& api, const DumpWish& wish) {
  TRY_ASSIGN(const File raw, scratch_file());
  TRY(api.stream(target_of(wish, false), [&](std::string_view part) -> Status {
    if (fwrite(part.data(), 1, part.size(), raw.get()) != part.size())
      return errno_error("write rows");
    return {};
  }));
  DumpFile out(wish.file);
  TRY(out.open());
  TRY(write_rows_csv(raw.get(), [&](std::string_view text) { return out.write(text); }));
  return out.finish();
}

}  // namespace

Status dump_job(HubApi& api, const DumpWish& wish) {
  if (wish.as == "csv" && wish.rows) return fetch_rows_csv(api, wish);
  if (wish.as != "parquet") return fetch(api, target_of(wish, wish.as == "csv"), wish.file);
  if (wish.file.empty()) return Error{Code::kInvalid, "Parquet needs a file", "-o job.parquet"};
  const std::string raw = wish.file + ".raw";
  auto made = fetch(api, target_of(wish, !wish.rows), raw);
  std::error_code ignored;
  if (made.ok() && wish.rows && std::filesystem::file_size(raw, ignored) == 0)
    made = Error{Code::kNotFound, fmt::format("job {} has no benchmark rows", wish.job)};
  if (made.ok()) made = copy_by_duckdb(wish.rows ? rows_source(raw) : sums_source(raw), wish.file);
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
