// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "base/text_style.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/newest.h"
#include "cli/terminal.h"
#include "record/column.h"
#include "record/sql.h"
#include "report/named_queries.h"
#include "report/query_output.h"
#include "report/schema_text.h"

namespace fathom {
namespace {

// 0: no terminal, so nothing needs to fit.
size_t columns_to_fit() { return isatty(STDOUT_FILENO) != 0 ? terminal_columns(STDOUT_FILENO) : 0; }

// A name, and words beside it that go on below themselves.
std::string wrapped_after(std::string_view name, std::string_view words, size_t indent,
                          size_t columns) {
  std::string text, line = fmt::format("{:<{}}", name, indent - 1);
  for (const std::string_view word : split_words(words)) {
    if (display_width(line) + 1 + display_width(word) > columns) {
      text += line + "\n";
      line = std::string(indent - 1, ' ');
    }
    line += " " + std::string(word);
  }
  return text + line + "\n";
}

// 0 columns: nothing needs to fit.
std::string list_of_queries(size_t columns) {
  size_t longest = 0;
  for (const NamedQuery& query : named_queries())
    longest = std::max(longest, display_width(query.name));
  std::string text;
  for (const NamedQuery& query : named_queries()) {
    const std::string line = fmt::format("{:<{}}  {}", query.name, longest, query.summary);
    text += columns > longest + 20 && display_width(line) > columns
                ? wrapped_after(query.name, query.summary, longest + 2, columns)
                : line + "\n";
  }
  return text;
}

// What a named query answers, the columns it gives and how it asks.
Result<std::string> help_of_query(const std::string& name) {
  const NamedQuery* query = find_named_query(name);
  if (query == nullptr) {
    std::vector<std::string_view> names;
    for (const NamedQuery& known : named_queries()) names.emplace_back(known.name);
    const auto meant = closest_match(name, names);
    return Error{Code::kNotFound, fmt::format("no query is named '{}'", name),
                 meant ? fmt::format("did you mean '{}'?", *meant)
                       : "fathom query --list shows the queries there are"};
  }
  TRY_ASSIGN(const auto session, open_query_session({}));
  std::string columns;
  if (auto rows = session->query(query->sql); rows.ok()) {
    for (const SqlRows::Column& column : rows.value().columns)
      columns += (columns.empty() ? "" : ", ") + column.name;
  }
  std::string_view sql = query->sql;
  while (sql.starts_with('\n')) sql.remove_prefix(1);
  return fmt::format("{}\n\n  fathom query RUN {}\n\nColumns: {}\nNo rows: {}\n\n{}\n",
                     query->summary, query->name, columns.empty() ? "as the SQL says" : columns,
                     query->when_empty, sql);
}

// What to type instead of `RUN` alone.
Error missing_question(const std::string& run) {
  std::string names;
  for (const NamedQuery& query : named_queries())
    names += (names.empty() ? "" : ", ") + std::string(query.name);
  return {Code::kInvalid, "the question is missing",
          fmt::format("fathom query {0} overview, or 'SELECT …'; known by name are: {1}",
                      shell_quote(run), names)};
}

// SQL as it is, the SQL of a named query, or all rows of a table.
Result<std::string> sql_of(const std::string& asked) {
  if (const NamedQuery* query = find_named_query(asked); query != nullptr)
    return std::string(query->sql);
  std::vector<std::string_view> names;
  for (const NamedQuery& query : named_queries()) names.emplace_back(query.name);
  for (const TableColumns& table : all_tables()) {
    if (asked == table.name) return "FROM " + sql_name(asked);
    names.emplace_back(table.name);
  }
  if (Recording::open(asked).ok()) return missing_question(asked);
  const bool is_word = asked.find_first_of(" \t\n();") == std::string::npos;
  if (!is_word) return asked;
  const auto meant = closest_match(asked, names);
  return Error{Code::kInvalid,
               fmt::format("'{}' is neither SQL nor a query or table we know", asked),
               meant ? fmt::format("did you mean '{}'?", *meant)
                     : "fathom query --list shows the queries there are"};
}

Result<int> run_query(const Arguments& arguments) {
  if (arguments.has("list") && !arguments.positionals().empty()) {
    TRY_ASSIGN(const std::string help, help_of_query(arguments.positionals().back()));
    TRY(print_out(help));
    return 0;
  }
  if (arguments.has("list")) {
    TRY(print_out(list_of_queries(columns_to_fit())));
    return 0;
  }
  if (arguments.has("schema")) {
    TRY(print_out(arguments.has("markdown") ? schema_markdown() : schema_text()));
    return 0;
  }
  if (arguments.has("json") && arguments.has("csv")) {
    return Error{Code::kInvalid, "--json and --csv do not go together", "choose one of them"};
  }
  std::vector<std::string> words = arguments.positionals();
  if (words.empty()) return missing_question("RUN");
  TRY_ASSIGN(const std::string sql, sql_of(words.back()));
  if (words.size() == 1) {
    TRY_ASSIGN(std::string newest, newest_recording("."));
    words.insert(words.begin(), std::move(newest));
  }
  std::vector<Recording> recordings;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    TRY_ASSIGN(Recording recording, open_recording(words[i]));
    recordings.push_back(std::move(recording));
  }
  TRY_ASSIGN(const auto session, open_query_session(std::move(recordings)));
  TRY_ASSIGN(SqlRows rows, session->query(sql));
  if (arguments.has("json")) {
    TRY(write_json(rows, print_out));
  } else if (arguments.has("csv")) {
    TRY(write_csv(rows, print_data_out));
  } else {
    TRY(write_table(rows, {columns_to_fit(), colours_wanted(STDOUT_FILENO)}, print_out));
  }
  if (const NamedQuery* asked = find_named_query(words.back()); asked != nullptr && rows.taken == 0)
    log_hint("no rows: {}", asked->when_empty);
  for (const std::string& damage : session->damage()) log_warning("{}", damage);
  return 0;
}

constexpr Flag kQueryFlags[] = {
    {.name = "csv", .help = "write CSV with a header line"},
    {.name = "json", .help = "write a JSON array with an object a row"},
    {.name = "list",
     .letter = 'l',
     .help = "list the named queries; with a name: its columns, what it answers and its SQL"},
    {.name = "schema", .help = "list all tables and columns with units"},
    {.name = "markdown", .help = "with --schema: as Markdown"},
};
constexpr Positional kQueryPositionals[] = {
    {.name = "RUN",
     .help = "recordings, else the newest here; every row says its run and label",
     .repeatable = true,
     .optional = true,
     .completes = "run-or-query"},
    {.name = "QUERY",
     .help = "SQL, the name of a query or the name of a table",
     .optional = true,
     .completes = "run-or-query"},
};

}  // namespace

extern constinit const Command kQueryCommand = {
    .name = "query",
    .group = "Look",
    .summary = "Ask a recording in SQL",
    .description =
        "A recording is tables: processes, gauges, counters, spans, samples and more. The last "
        "word "
        "is the question, in SQL as DuckDB understands it or one of the named queries. Several "
        "recordings are asked together. Rows come in no order unless the question has an ORDER "
        "BY.\n\n"
        "    fathom query make-1.fathom top-processes\n"
        "    fathom query make-1 \"SELECT name, count(*) FROM processes GROUP BY name\"\n"
        "    fathom query before after overview --json\n"
        "    fathom query --list top-processes",
    .flags = kQueryFlags,
    .positionals = kQueryPositionals,
    .run = run_query,
};

}  // namespace fathom
