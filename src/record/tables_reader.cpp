// SPDX-License-Identifier: Apache-2.0
// Parquet to batches: a SELECT of the schema's columns a table, read chunk by chunk. Only the
// stacks are held in memory as a whole.
#include <filesystem>

#include "record/frame.h"
#include "record/parquet_sql.h"
#include "record/tables.h"
#include "record/vector_read.h"

namespace fathom {
namespace {

constexpr TableSet kTablesWithStacks = tables_of<Sample, Span>();
constexpr int kReaderThreads = 2;

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

class TablesReader {
 public:
  TablesReader(const Recording& recording, DuckConnection connection, const Recording::Visit& visit)
      : recording_(recording), connection_(std::move(connection)), visit_(visit) {}

  Status read(TableSet tables) {
    if ((tables & kTablesWithStacks) != 0) TRY(read_stacks());
    stacks_.finish();
    Status status;
    for_each_table([&]<class Record>() {
      if (status.ok() && (tables & tables_of<Record>()) != 0) status = read_table<Record>();
    });
    return status;
  }

 private:
  static std::string path_for_duckdb(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::absolute(path, ignored).string();
  }

  template <class Record>
  Status read_table() {
    const std::string path = path_for_duckdb(recording_.table_path(TableOf<Record>::kName));
    if (!exists(path)) return {};
    if (auto whole = recording_.check_table(TableOf<Record>::kName); !whole.ok())
      return go_on(whole.error(), TableOf<Record>::kName);
    const std::vector<ColumnRead>& reads = column_reads(table_number<Record>());
    const auto present = parquet_columns(connection_, path);
    if (!present.ok()) return go_on(present.error(), TableOf<Record>::kName);
    if (auto counted = count_parquet_rows(connection_, recording_, TableOf<Record>::kName, path);
        !counted.ok())
      return go_on(counted.error(), TableOf<Record>::kName);
    std::string columns;
    for (const ColumnRead& read : reads) {
      columns += (columns.empty() ? "" : ", ") +
                 column_read_sql(read, column_sql(read.column, present.value()));
    }
    auto result = connection_.query("SELECT " + columns + " FROM " + read_parquet_sql(path));
    if (!result.ok())
      return go_on(parquet_error(std::move(result).error(), path), TableOf<Record>::kName);
    bool more = true;
    while (more) {
      ReadTarget target(stacks_);
      auto filled = fill_batch<Record>(result.value(), reads, target);
      if (!filled.ok())
        return go_on(parquet_error(std::move(filled).error(), path), TableOf<Record>::kName);
      if (!target.complete() && stacks_damaged_) return {};
      if (!target.complete()) {
        return Error{Code::kCorrupt,
                     path + " refers to stacks that " + kStacksName + ".parquet does not hold"};
      }
      more = filled.value();
      TRY(give(target));
    }
    return {};
  }

  // A table that is damaged is told and left out; without the one of the runs nothing has a sense.
  Status go_on(Error error, const char* table) {
    const bool of_runs = std::string_view(table) == TableOf<Run>::kName;
    if (error.code != Code::kCorrupt || of_runs) return error;
    recording_.found_damaged(table);
    return {};
  }

  // Reads chunks until the next might be one too many; false: that was the end.
  template <class Record>
  static Result<bool> fill_batch(DuckResult& result, const std::vector<ColumnRead>& reads,
                                 ReadTarget& target) {
    const DuckApi& api = loaded_duck_api();
    std::vector<Record>& list = target.rows.of<Record>();
    while (list.size() + api.vector_size() <= kMaxRowsPerTable) {
      TRY_ASSIGN(const DuckChunk chunk, result.next());
      if (chunk.get() == nullptr) return false;
      const size_t begin = list.size();
      const size_t count = api.data_chunk_get_size(chunk.get());
      list.resize(begin + count);
      size_t first = 0;
      for (const ColumnRead& read : reads) {
        read.read(target, begin, count, chunk.get(), first);
        first += read.vectors;
      }
    }
    return true;
  }

  // The batch points into the target's names, which stay for the time of the visit.
  Status give(ReadTarget& target) {
    if (target.rows.count() == 0) return {};
    Batch batch;
    batch.dictionary = target.names.dictionary();
    batch.rows = std::move(target.rows);
    return visit_(batch);
  }

  Status read_stacks() {
    const std::string path = path_for_duckdb(recording_.table_path(kStacksName));
    if (!exists(path)) return {};
    auto whole = recording_.check_table(kStacksName);
    auto added = whole.ok() ? add_stacks(path) : Status();
    if (whole.ok() && added.ok()) return {};
    stacks_damaged_ = true;
    if (!whole.ok()) return go_on(std::move(whole).error(), kStacksName);
    return go_on(parquet_error(std::move(added).error(), path), kStacksName);
  }

  Status add_stacks(const std::string& path) {
    TRY_ASSIGN(
        DuckResult result,
        connection_.query("SELECT id::UBIGINT, parent::UBIGINT, symbol::VARCHAR, module::VARCHAR, "
                          "build_id::VARCHAR, file::VARCHAR, line::BIGINT, kind::VARCHAR FROM " +
                          read_parquet_sql(path) + " ORDER BY depth"));
    while (true) {
      TRY_ASSIGN(const DuckChunk chunk, result.next());
      if (chunk.get() == nullptr) return {};
      add_stacks(chunk.get());
    }
  }

  void add_stacks(duckdb_data_chunk chunk) {
    const DuckApi& api = loaded_duck_api();
    const auto valid = [&](size_t column, size_t row) {
      return duck_valid(api.vector_get_validity(api.data_chunk_get_vector(chunk, column)), row);
    };
    const auto data = [&](size_t column) {
      return api.vector_get_data(api.data_chunk_get_vector(chunk, column));
    };
    const auto text = [&](size_t column, size_t row) {
      return valid(column, row) ? duck_text(static_cast<duckdb_string_t*>(data(column))[row])
                                : std::string_view();
    };
    for (size_t i = 0; i < api.data_chunk_get_size(chunk); ++i) {
      Interner& names = stacks_.names();
      Frame frame{names.string(text(2, i)), names.string(text(3, i)), names.string(text(4, i)),
                  names.string(text(5, i))};
      if (valid(6, i)) frame.line = static_cast<uint32_t>(static_cast<int64_t*>(data(6))[i]);
      frame.kind = frame_kind(text(7, i));
      std::optional<uint64_t> parent;
      if (valid(1, i)) parent = static_cast<uint64_t*>(data(1))[i];
      stacks_.add(static_cast<uint64_t*>(data(0))[i], parent, frame);
    }
  }

  static FrameKind frame_kind(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(kLastFrameKind); ++i) {
      if (name == frame_kind_name(static_cast<FrameKind>(i))) return static_cast<FrameKind>(i);
    }
    return FrameKind::kUnknown;
  }

  const Recording& recording_;
  DuckConnection connection_;
  const Recording::Visit& visit_;
  StackTable stacks_;
  bool stacks_damaged_ = false;
};

}  // namespace

Status read_tables(const Recording& recording, TableSet tables, const Recording::Visit& visit) {
  TRY_ASSIGN(DuckDatabase database, DuckDatabase::open({.threads = kReaderThreads}));
  TRY_ASSIGN(DuckConnection connection, DuckConnection::open(database));
  return TablesReader(recording, std::move(connection), visit).read(tables);
}

}  // namespace fathom
