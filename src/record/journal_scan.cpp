// SPDX-License-Identifier: Apache-2.0
#include "record/journal_scan.h"

#include <algorithm>
#include <atomic>

#include "record/stack_rows.h"

namespace fathom {
namespace {

constexpr const char* kFunctionName = "fathom_journal";
constexpr TableSet kTablesWithStacks = tables_of<Sample, Span>();

// What the call fathom_journal(RECORDING, TABLE) means.
struct ScanBind {
  const Recording* recording;
  size_t table;

  [[nodiscard]] bool is_stacks() const { return table == kStacksTable; }
  [[nodiscard]] TableSet set() const { return is_stacks() ? 0 : TableSet{1} << table; }
  // Frames that have something for this table.
  [[nodiscard]] TableSet wanted() const { return is_stacks() ? kTablesWithStacks : set(); }
};

// One execution of it, shared by all threads.
struct Scan {
  ScanBind bind;
  std::vector<idx_t> columns;          // asked for, by their number in the table
  std::atomic<size_t> next_entry = 0;  // the first frame that no thread has taken
  std::unique_ptr<Collected> merged;   // all rows, if they have a key
  StackRows stacks;                    // for one thread
};

// One thread's place in it.
struct Place {
  Batch batch;
  std::unique_ptr<Collected> merged;
  std::vector<StackRow> stacks;
  FillSource source;
  size_t row = 0;
  size_t count = 0;
};

template <class Owned>
void destroy(void* owned) {
  delete static_cast<Owned*>(owned);
}

size_t count_rows(const Rows& rows, size_t table) {
  size_t count = 0;
  for_each_table([&]<class Record>() {
    if (table_number<Record>() == table) count = rows.of<Record>().size();
  });
  return count;
}

bool has_key(size_t table) {
  bool keyed = false;
  for_each_table([&]<class Record>() {
    if (table_number<Record>() == table) keyed = Keyed<Record>;
  });
  return keyed;
}

DuckType duck_type(ColumnType type) {
  const DuckApi& api = loaded_duck_api();
  switch (type) {
    case ColumnType::kReal:
      return DuckType(api.create_logical_type(DUCKDB_TYPE_DOUBLE));
    case ColumnType::kText:
    case ColumnType::kJson:
      return DuckType(api.create_logical_type(DUCKDB_TYPE_VARCHAR));
    case ColumnType::kStack:
      return DuckType(api.create_logical_type(DUCKDB_TYPE_UBIGINT));
    case ColumnType::kHistogram:
      return DuckType(
          api.create_list_type(DuckType(api.create_logical_type(DUCKDB_TYPE_BIGINT)).get()));
    case ColumnType::kInteger:
      break;
  }
  return DuckType(api.create_logical_type(DUCKDB_TYPE_BIGINT));
}

int64_t parameter(duckdb_bind_info info, idx_t index) {
  duckdb_value value = loaded_duck_api().bind_get_parameter(info, index);
  const int64_t number = loaded_duck_api().get_int64(value);
  loaded_duck_api().destroy_value(&value);
  return number;
}

void bind_scan(duckdb_bind_info info) {
  const DuckApi& api = loaded_duck_api();
  const auto* recordings =
      static_cast<const std::span<const Recording>*>(api.bind_get_extra_info(info));
  const auto recording = static_cast<size_t>(parameter(info, 0));
  const auto table = static_cast<size_t>(parameter(info, 1));
  if (recording >= recordings->size() || table >= all_tables().size() ||
      (*recordings)[recording].journal() == nullptr) {
    return api.bind_set_error(info, "there is no such journal or table");
  }
  for (const Column& column : all_tables()[table].columns) {
    api.bind_add_result_column(info, column.name, duck_type(column.type).get());
  }
  api.bind_set_bind_data(info, new ScanBind{&(*recordings)[recording], table}, destroy<ScanBind>);
}

void init_scan(duckdb_init_info info) {
  const DuckApi& api = loaded_duck_api();
  auto scan = std::make_unique<Scan>();
  scan->bind = *static_cast<const ScanBind*>(api.init_get_bind_data(info));
  for (idx_t i = 0; i < api.init_get_column_count(info); ++i) {
    scan->columns.push_back(api.init_get_column_index(info, i));
  }
  const bool keyed = has_key(scan->bind.table);
  if (keyed) {
    auto merged = collect(*scan->bind.recording, scan->bind.set());
    if (!merged.ok()) return api.init_set_error(info, merged.error().message.c_str());
    scan->merged = std::move(merged).value();
  }
  const size_t frames = scan->bind.recording->journal()->entries().size();
  api.init_set_max_threads(info, keyed || scan->bind.is_stacks() ? 1 : std::max<size_t>(1, frames));
  api.init_set_init_data(info, scan.release(), destroy<Scan>);
}

void init_place(duckdb_init_info info) {
  loaded_duck_api().init_set_init_data(info, new Place, destroy<Place>);
}

// Moves to the next frame that has rows; false at the end.
Result<bool> next_rows(Scan& scan, Place& place) {
  if (scan.merged) {
    place.merged = std::move(scan.merged);
    place.source.take(place.merged->names.dictionary(), place.merged->rows);
    place.count = count_rows(place.merged->rows, scan.bind.table);
  }
  const JournalReader& journal = *scan.bind.recording->journal();
  while (!place.merged && place.row == place.count) {
    const size_t entry = scan.next_entry++;
    if (entry >= journal.entries().size()) return false;
    if ((journal.entries()[entry].header.tables & scan.bind.wanted()) == 0) continue;
    place.batch = Batch();  // not two at a time
    TRY_ASSIGN(place.batch, journal.read(journal.entries()[entry], scan.bind.set()));
    place.source.take(place.batch.dictionary, place.batch.rows);
    place.row = 0;
    if (scan.bind.is_stacks()) place.stacks = scan.stacks.fresh(place.batch.dictionary);
    place.count =
        scan.bind.is_stacks() ? place.stacks.size() : count_rows(place.batch.rows, scan.bind.table);
  }
  return place.row < place.count;
}

void fill_chunk(const Scan& scan, Place& place, duckdb_data_chunk out) {
  const DuckApi& api = loaded_duck_api();
  const size_t count = std::min<size_t>(place.count - place.row, api.vector_size());
  const size_t known = all_tables()[scan.bind.table].columns.size();
  for (size_t i = 0; i < scan.columns.size(); ++i) {
    if (scan.columns[i] >= known) continue;  // only the number of rows is asked for
    const duckdb_vector vector = api.data_chunk_get_vector(out, i);
    if (scan.bind.is_stacks()) {
      fill_stack_column(scan.columns[i], place.source, place.stacks.data() + place.row, count,
                        vector);
    } else {
      column_fills(scan.bind.table)[scan.columns[i]](place.source, place.row, count, vector);
    }
  }
  place.row += count;
  api.data_chunk_set_size(out, count);
}

void run_scan(duckdb_function_info info, duckdb_data_chunk out) {
  const DuckApi& api = loaded_duck_api();
  auto& scan = *static_cast<Scan*>(api.function_get_init_data(info));
  auto& place = *static_cast<Place*>(api.function_get_local_init_data(info));
  if (place.row == place.count) {
    const Result<bool> more = next_rows(scan, place);
    if (!more.ok()) return api.function_set_error(info, more.error().message.c_str());
    if (!more.value()) return api.data_chunk_set_size(out, 0);
  }
  fill_chunk(scan, place, out);
}

}  // namespace

Status register_journal_scan(DuckConnection& connection, std::span<const Recording> recordings) {
  const DuckApi& api = loaded_duck_api();
  DuckHandle<duckdb_table_function, &DuckApi::destroy_table_function> function(
      api.create_table_function());
  const DuckType number(api.create_logical_type(DUCKDB_TYPE_BIGINT));
  api.table_function_set_name(function.get(), kFunctionName);
  api.table_function_add_parameter(function.get(), number.get());
  api.table_function_add_parameter(function.get(), number.get());
  api.table_function_set_extra_info(function.get(), new std::span<const Recording>(recordings),
                                    destroy<std::span<const Recording>>);
  api.table_function_set_bind(function.get(), bind_scan);
  api.table_function_set_init(function.get(), init_scan);
  api.table_function_set_local_init(function.get(), init_place);
  api.table_function_set_function(function.get(), run_scan);
  api.table_function_supports_projection_pushdown(function.get(), true);
  if (api.register_table_function(connection.get(), function.get()) != DuckDBSuccess) {
    return Error{Code::kInternal, "DuckDB does not take the journal as a table"};
  }
  return {};
}

std::string journal_scan_sql(size_t recording, size_t table) {
  return std::string(kFunctionName) + "(" + std::to_string(recording) + ", " +
         std::to_string(table) + ")";
}

uint32_t tables_in_journal(const JournalReader& journal) {
  TableSet set = 0;
  for (const JournalReader::Entry& entry : journal.entries()) set |= entry.header.tables;
  set &= kAllTables;
  return (set & kTablesWithStacks) != 0 ? set | (1U << kStacksTable) : set;
}

}  // namespace fathom
