// SPDX-License-Identifier: Apache-2.0
#include "record/sql.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "record/column.h"
#include "record/journal_scan.h"
#include "record/parquet_sql.h"
#include "record/vector_fill.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Large questions spill; DuckDB makes the folder when it needs it and removes it at the end.
std::string spill_folder() {
  const char* place = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  return std::string(place == nullptr || *place == '\0' ? "/tmp" : place) + "/fathom-sql-" + std::to_string(getpid());
}

struct RunName {
  std::string id;
  std::string label;
};

Result<RunName> name_of(const Recording& recording) {
  const std::string stem = fs::path(recording.path()).stem().string();
  TRY_ASSIGN(const auto facts, collect(recording, tables_of<Run>()));
  if (facts->rows.of<Run>().empty()) return RunName{stem, stem};
  const Run& run = facts->rows.of<Run>().front();
  const auto text = [&](StringId id) { return id == StringId::kNone ? stem : std::string(facts->text(id)); };
  return RunName{text(run.id), text(run.label)};
}

class ViewMaker {
 public:
  ViewMaker(DuckConnection& connection, const std::vector<Recording>& recordings)
      : connection_(connection), recordings_(recordings) {}

  Status make_all() {
    for (const Recording& recording : recordings_) {
      TRY_ASSIGN(names_.emplace_back(), name_of(recording));
    }
    for (size_t table = 0; table < all_tables().size(); ++table) TRY(make(table));
    return {};
  }
  // Files that the views read.
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

 private:
  Status make(size_t table) {
    std::string sql = std::string("CREATE VIEW ") + sql_name(all_tables()[table].name) + " AS ";
    for (size_t i = 0; i < recordings_.size(); ++i) {
      TRY_ASSIGN(const std::string part, select(i, table));
      sql += (i == 0 ? "" : " UNION ALL BY NAME ") + part;
    }
    return connection_.execute(sql);
  }

  // SELECT run, label, the columns FROM where this recording has them.
  Result<std::string> select(size_t number, size_t table) {
    const TableColumns& columns = all_tables()[table];
    std::vector<std::string> present;
    std::string from;
    if (const JournalReader* journal = recordings_[number].journal(); journal != nullptr) {
      for (const Column& column : columns.columns) present.emplace_back(column.name);
      from = " FROM " + journal_scan_sql(number, table);
    } else {
      TRY_ASSIGN(from, from_parquet(recordings_[number].table_path(columns.name), present));
    }
    std::string sql = "SELECT " + sql_text(valid(names_[number].id)) + " AS run, " +
                      sql_text(valid(names_[number].label)) + " AS label";
    for (const Column& column : columns.columns) {
      if (std::string_view(column.name) == "label") continue;
      sql += ", " + column_sql(column, present) + " AS " + sql_name(column.name);
    }
    return sql + from;
  }

  Result<std::string> from_parquet(const std::string& relative, std::vector<std::string>& present) {
    std::error_code failed;
    const std::string path = fs::absolute(relative, failed).lexically_normal().string();
    if (failed || !fs::exists(path, failed)) return std::string(" WHERE false");
    TRY_ASSIGN(present, parquet_columns(connection_, path));
    files_.push_back(path);
    return " FROM " + read_parquet_sql(path);
  }

  std::string valid(const std::string& text) {
    std::string scratch;
    return std::string(valid_utf8(text, scratch));
  }

  DuckConnection& connection_;
  const std::vector<Recording>& recordings_;
  std::vector<RunName> names_;
  std::vector<std::string> files_;
};

// From here on SQL reaches the files of the recordings and nothing else.
Status close_doors(DuckConnection& connection, const std::vector<std::string>& files) {
  std::string list;
  for (const std::string& file : files) list += (list.empty() ? "" : ", ") + sql_text(file);
  TRY(connection.execute("SET allowed_paths = [" + list + "]"));
  TRY(connection.execute("SET enable_external_access = false"));
  return connection.execute("SET lock_configuration = true");
}

// The files that may be read may also be written, as far as DuckDB cares.
Status allow_statement(duckdb_statement_type type) {
  if (type != DUCKDB_STATEMENT_TYPE_COPY && type != DUCKDB_STATEMENT_TYPE_EXPORT) return {};
  return Error{Code::kInvalid, "a query does not write files", "redirect its output: fathom query RUN SQL --csv >FILE"};
}

}  // namespace

Result<std::unique_ptr<SqlSession>> SqlSession::open(std::vector<Recording> recordings) {
  TRY_ASSIGN(DuckDatabase database, DuckDatabase::open({.temp_folder = spill_folder()}));
  TRY_ASSIGN(DuckConnection connection, DuckConnection::open(database));
  std::unique_ptr<SqlSession> session(
      new SqlSession(std::move(recordings), std::move(database), std::move(connection)));
  TRY(register_journal_scan(session->connection_, session->recordings_));
  ViewMaker views(session->connection_, session->recordings_);
  TRY(views.make_all());
  TRY(close_doors(session->connection_, views.files()));
  return session;
}

Result<SqlRows> SqlSession::query(const std::string& sql) {
  TRY_ASSIGN(DuckResult result, connection_.query(sql, allow_statement));
  return SqlRows{std::move(result)};
}

}  // namespace fathom
