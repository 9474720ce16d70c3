// SPDX-License-Identifier: Apache-2.0
#include "record/sql.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "record/column.h"
#include "record/journal_scan.h"
#include "record/parquet_sql.h"
#include "record/vector_fill.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

struct RunName {
  std::string id;
  std::string label;
  std::string damage;  // that was told when it was converted
};

Result<RunName> name_of(const Recording& recording) {
  const std::string stem = fs::path(recording.path()).stem().string();
  TRY_ASSIGN(const auto facts, collect_as_written(recording, tables_of<Run>()));
  if (facts->rows.of<Run>().empty()) return RunName{stem, stem, ""};
  const Run& run = facts->rows.of<Run>().front();
  const auto text = [&](StringId id) {
    return id == StringId::kNone ? stem : std::string(facts->text(id));
  };
  return RunName{text(run.id), text(run.label), std::string(facts->text(run.damage))};
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
  [[nodiscard]] const std::vector<RunName>& names() const { return names_; }

 private:
  Status make(size_t table) {
    std::string sql = std::string("CREATE VIEW ") + sql_name(all_tables()[table].name) + " AS ";
    for (size_t i = 0; i < recordings_.size(); ++i) {
      auto part = select(i, table);
      if (!part.ok() && part.error().code == Code::kCorrupt) {  // is said when it is asked for
        recordings_[i].found_damaged(all_tables()[table].name);
        return {};
      }
      if (!part.ok()) return std::move(part).error();
      sql += (i == 0 ? "" : " UNION ALL BY NAME ") + part.value();
    }
    if (recordings_.empty())
      sql += select_columns("", "", all_tables()[table], {}) + " WHERE false";
    return connection_.execute(sql);
  }

  static std::string select_columns(const std::string& run, const std::string& label,
                                    const TableColumns& columns,
                                    const std::vector<std::string>& present) {
    std::string sql = "SELECT " + sql_text(run) + " AS run, " + sql_text(label) + " AS label";
    for (const Column& column : columns.columns) {
      if (std::string_view(column.name) == "label") continue;
      sql += ", " + column_sql(column, present) + " AS " + sql_name(column.name);
    }
    return sql;
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
      TRY_ASSIGN(from, from_parquet(recordings_[number], columns.name, present));
    }
    return select_columns(valid(names_[number].id), valid(names_[number].label), columns, present) +
           from;
  }

  Result<std::string> from_parquet(const Recording& recording, const char* table,
                                   std::vector<std::string>& present) {
    std::error_code failed;
    const std::string path =
        fs::absolute(recording.table_path(table), failed).lexically_normal().string();
    if (failed || !fs::exists(path, failed)) return std::string(" WHERE false");
    TRY_ASSIGN(present, parquet_columns(connection_, path));
    TRY(count_parquet_rows(connection_, recording, table, path));
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
  return Error{Code::kInvalid, "a query does not write files",
               "redirect its output: fathom query RUN SQL --csv >FILE"};
}

// DuckDB's message, of which the first line says what is wrong and the second may say what was
// meant.
Error in_one_line(Error error) {
  const std::vector<std::string_view> lines = split_words(error.message, '\n');
  std::string text(lines.empty() ? std::string_view("the query failed") : lines.front());
  if (lines.size() > 1 &&
      (lines[1].starts_with("Did you mean") || lines[1].starts_with("Candidate"))) {
    text += " " + std::string(lines[1]);
  }
  error.message = text;
  if (text.starts_with("Permission Error")) {
    error.code = Code::kPermission;
    error.hint = "a query reads the recordings it was given and nothing else";
  } else if (error.code == Code::kInvalid && error.hint.empty()) {
    error.hint = "tables and columns: fathom query --schema";
  }
  return error;
}

bool is_word_byte(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
}

// The words of a query that may name a table, in lower case: all but those behind an AS.
std::set<std::string> words_of(std::string_view sql) {
  std::set<std::string> words;
  std::string before;
  for (size_t at = 0; at < sql.size();) {
    std::string word;
    for (; at < sql.size() && is_word_byte(sql[at]); ++at)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(sql[at])));
    if (word.empty()) {
      ++at;
      continue;
    }
    if (before != "as") words.insert(word);
    before = std::move(word);
  }
  return words;
}

// Functions of DuckDB that make a table's name, or a file's, out of a text.
bool may_ask_any_table(const std::set<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("query") || word.find("parquet") != std::string::npos;
  });
}

Error damage_error(const Recording& recording) {
  return Error{Code::kCorrupt, recording.path() + ": " + recording.damage(),
               recording.remedy() + "; the other tables can be asked"};
}

// The query with every column of a type that cannot be shown as VARCHAR.
std::string cast_to_text(std::string sql, const std::vector<SqlRows::Column>& columns) {
  while (!sql.empty() &&
         (sql.back() == ';' || std::isspace(static_cast<unsigned char>(sql.back())) != 0))
    sql.pop_back();
  std::string names;
  std::string casts;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string name = "column_" + std::to_string(i);
    names += (i == 0 ? "" : ", ") + name;
    casts +=
        (i == 0 ? "" : ", ") + (columns[i].format.known() ? name : "CAST(" + name + " AS VARCHAR)");
    casts += " AS " + sql_name(columns[i].name);
  }
  return "SELECT " + casts + " FROM (" + sql + "\n) AS rows_to_show(" + names + ")";
}

}  // namespace

SqlSession::SpillFolder::SpillFolder() : on_signal_([this] { remove(); }) {
  std::error_code failed;
  std::string pattern = (fs::temp_directory_path(failed) / "fathom-sql.XXXXXX").string();
  if (!failed && mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

void SqlSession::SpillFolder::remove() const {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<std::unique_ptr<SqlSession>> SqlSession::open(std::vector<Recording> recordings,
                                                     int64_t memory_limit_bytes) {
  std::unique_ptr<SqlSession> session(new SqlSession(std::move(recordings)));
  TRY_ASSIGN(session->database_, DuckDatabase::open({.memory_limit_bytes = memory_limit_bytes,
                                                     .temp_folder = session->spill_.path()}));
  TRY_ASSIGN(session->connection_, DuckConnection::open(session->database_));
  TRY(register_journal_scan(session->connection_, session->recordings_));
  ViewMaker views(session->connection_, session->recordings_);
  TRY(views.make_all());
  for (const RunName& name : views.names()) session->told_damage_.push_back(name.damage);
  TRY(close_doors(session->connection_, views.files()));
  return session;
}

std::vector<std::string> SqlSession::damage() const {
  std::vector<std::string> all;
  for (size_t i = 0; i < recordings_.size(); ++i) {
    const std::string text = join_damage(told_damage_[i], recordings_[i].damage());
    if (!text.empty()) all.push_back(recordings_[i].path() + ": " + text);
  }
  return all;
}

std::optional<Error> SqlSession::damage_behind(const Error& error) const {
  for (const Recording& recording : recordings_) {
    for (const std::string& file : recording.damaged_tables()) {
      const std::string table = file.substr(0, file.rfind('.'));
      const bool asked =
          error.message.find("Table with name " + table + " ") != std::string::npos ||
          error.message.find(file) != std::string::npos;
      if (!asked) continue;
      return damage_error(recording);
    }
  }
  return std::nullopt;
}

Status SqlSession::check_tables_in(const std::string& sql) const {
  const std::set<std::string> words = words_of(sql);
  const bool any = may_ask_any_table(words);
  for (const TableColumns& table : all_tables()) {
    if (!any && !words.contains(table.name)) continue;
    for (const Recording& recording : recordings_) {
      auto checked = recording.check_table(table.name);
      if (!checked.ok() && checked.error().code == Code::kCorrupt) return damage_error(recording);
      TRY(checked);
    }
  }
  return {};
}

Result<SqlRows> SqlSession::rows_of(const std::string& sql) {
  TRY(check_tables_in(sql));
  auto result = connection_.query(sql, allow_statement);
  if (!result.ok()) {
    if (auto damaged = damage_behind(result.error())) return *std::move(damaged);
    return in_one_line(std::move(result).error());
  }
  std::vector<SqlRows::Column> columns;
  const size_t count = result.value().has_rows() ? result.value().column_count() : 0;
  for (size_t i = 0; i < count; ++i) {
    columns.push_back({result.value().column_name(i), CellFormat(result.value().column_type(i))});
  }
  return SqlRows{std::move(columns), std::move(result).value(), 0};
}

Result<SqlRows> SqlSession::query(const std::string& sql) {
  const auto all_known = [](const SqlRows& rows) {
    return std::all_of(rows.columns.begin(), rows.columns.end(),
                       [](const auto& column) { return column.format.known(); });
  };
  std::string cast;
  {
    TRY_ASSIGN(SqlRows rows, rows_of(sql));
    if (all_known(rows)) return rows;
    cast = cast_to_text(sql, rows.columns);
  }
  auto rows = rows_of(cast);
  if (rows.ok()) return rows;
  return Error{Code::kInvalid, "the result has a type that cannot be shown",
               "cast it in the query: CAST(x AS VARCHAR)"};
}

}  // namespace fathom
