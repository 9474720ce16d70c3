// SPDX-License-Identifier: Apache-2.0
#include "base/duckdb.h"

namespace fathom {
namespace {

using Config = DuckHandle<duckdb_config, &DuckApi::destroy_config>;
using Extracted = DuckHandle<duckdb_extracted_statements, &DuckApi::destroy_extracted>;
using Prepared = DuckHandle<duckdb_prepared_statement, &DuckApi::destroy_prepare>;

Error refused(const char* why) {
  const std::string_view text = why == nullptr ? "DuckDB gave no reason" : why;
  if (text.find("No space left on device") != std::string_view::npos)
    return Error{Code::kNoSpace, std::string(text)};
  if (text.starts_with("IO Error") || text.starts_with("Out of Memory"))
    return Error{Code::kIo, std::string(text)};
  return Error{Code::kInvalid, std::string(text)};
}

Result<DuckResult> execute_one(const DuckApi& api, duckdb_prepared_statement statement) {
  duckdb_result raw{};
  const duckdb_state state = api.execute_prepared_streaming(statement, &raw);
  DuckResult result(raw);
  if (state != DuckDBSuccess) return refused(api.result_error(&raw));
  return result;
}

std::string quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  return out + quote;
}

}  // namespace

DuckResult::~DuckResult() {
  if (result_.internal_data != nullptr) loaded_duck_api().destroy_result(&result_);
}

size_t DuckResult::column_count() const { return loaded_duck_api().column_count(&result_); }

std::string DuckResult::column_name(size_t column) const {
  const char* name = loaded_duck_api().column_name(&result_, column);
  return name == nullptr ? std::string() : name;
}

DuckType DuckResult::column_type(size_t column) const {
  return DuckType(loaded_duck_api().column_logical_type(&result_, column));
}

bool DuckResult::has_rows() const {
  return loaded_duck_api().result_return_type(result_) == DUCKDB_RESULT_TYPE_QUERY_RESULT;
}

Result<DuckChunk> DuckResult::next() {
  const DuckApi& api = loaded_duck_api();
  DuckChunk chunk(api.fetch_chunk(result_));
  if (chunk.get() != nullptr && api.data_chunk_get_size(chunk.get()) > 0) return chunk;
  if (const char* why = api.result_error(&result_); why != nullptr && *why != '\0')
    return refused(why);
  return DuckChunk();
}

Result<int64_t> DuckResult::next_number() {
  TRY_ASSIGN(const DuckChunk chunk, next());
  if (chunk.get() == nullptr) return 0;
  const DuckApi& api = loaded_duck_api();
  const duckdb_vector cells = api.data_chunk_get_vector(chunk.get(), 0);
  if (!duck_valid(api.vector_get_validity(cells), 0)) return 0;
  return *static_cast<int64_t*>(api.vector_get_data(cells));
}

Result<DuckDatabase> DuckDatabase::open(const DuckOptions& options) {
  TRY_ASSIGN(const DuckApi* api, duck_api());
  Config config;
  if (api->create_config(config.out()) != DuckDBSuccess)
    return Error{Code::kInternal, "DuckDB takes no settings"};
  const auto set = [&](const char* name, const std::string& value) {
    return api->set_config(config.get(), name, value.c_str()) == DuckDBSuccess;
  };
  bool taken = set("autoinstall_known_extensions", "false") &&
               set("autoload_known_extensions", "false") &&
               set("temp_directory", options.temp_folder);
  if (options.memory_limit_bytes > 0)
    taken &= set("memory_limit", std::to_string(options.memory_limit_bytes) + "B");
  if (options.threads > 0) taken &= set("threads", std::to_string(options.threads));
  if (!taken) return Error{Code::kUnsupported, "this DuckDB does not take our settings"};
  DuckDatabase database;
  char* why = nullptr;
  if (api->open_ext(nullptr, database.database_.out(), config.get(), &why) != DuckDBSuccess) {
    Error error = refused(why);
    api->free(why);
    return std::move(error).within("start DuckDB");
  }
  return database;
}

Result<DuckConnection> DuckConnection::open(DuckDatabase& database) {
  DuckConnection connection;
  if (loaded_duck_api().connect(database.database_.get(), connection.connection_.out()) !=
      DuckDBSuccess) {
    return Error{Code::kInternal, "DuckDB takes no connection"};
  }
  return connection;
}

Result<DuckResult> DuckConnection::query(const std::string& sql) { return query(sql, nullptr); }

Result<DuckResult> DuckConnection::query(const std::string& sql, Allow allow) {
  const DuckApi& api = loaded_duck_api();
  Extracted statements;
  const idx_t count = api.extract_statements(get(), sql.c_str(), statements.out());
  if (count == 0) {
    const char* why = api.extract_statements_error(statements.get());
    return why == nullptr ? Error{Code::kInvalid, "there is no statement in the query"}
                          : refused(why);
  }
  for (idx_t i = 0;; ++i) {
    Prepared statement;
    if (api.prepare_extracted_statement(get(), statements.get(), i, statement.out()) !=
        DuckDBSuccess) {
      return refused(api.prepare_error(statement.get()));
    }
    const duckdb_statement_type type = api.prepared_statement_type(statement.get());
    if (allow != nullptr) TRY(allow(type));
    if (type == DUCKDB_STATEMENT_TYPE_SELECT && i + 1 < count)
      return Error{Code::kInvalid, "only the last of several questions would be answered",
                   "ask them one by one"};
    TRY_ASSIGN(DuckResult result, execute_one(api, statement.get()));
    if (i + 1 == count) return result;
    // A streaming result is only complete when it has been read.
    for (bool more = true; more;) {
      TRY_ASSIGN(const DuckChunk chunk, result.next());
      more = chunk.get() != nullptr;
    }
  }
}

Status DuckConnection::execute(const std::string& sql) {
  TRY_ASSIGN(DuckResult result, query(sql));
  while (true) {
    TRY_ASSIGN(const DuckChunk chunk, result.next());
    if (chunk.get() == nullptr) return {};
  }
}

std::string sql_text(std::string_view text) { return quoted(text, '\''); }
std::string sql_name(std::string_view name) { return quoted(name, '"'); }

}  // namespace fathom
