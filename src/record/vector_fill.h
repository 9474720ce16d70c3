// SPDX-License-Identifier: Apache-2.0
// Writes columns of records into DuckDB vectors. FillSource is one batch and what was worked out of
// its dictionary: texts as SQL takes them (bytes that are not UTF-8 become U+FFFD), details as
// JSON, stacks as hashes. Each is worked out once a batch, whatever the number of rows. Belongs to
// one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/duckdb.h"
#include "record/batch.h"
#include "record/column.h"

namespace fathom {

class FillSource {
 public:
  // Both must stay until the next call.
  void take(const Dictionary& dictionary, const Rows& rows);

  [[nodiscard]] const Dictionary& dictionary() const { return *dictionary_; }
  [[nodiscard]] const Rows& rows() const { return *rows_; }
  uint64_t stack_hash(StackId id);

  // Calls next(i) for the id of each of `count` rows and writes what it stands for.
  template <class Next>
  void fill_text(duckdb_vector out, size_t count, Next&& next) {
    fill_cached(out, count, texts_, next);
  }
  template <class Next>
  void fill_json(duckdb_vector out, size_t count, Next&& next) {
    fill_cached(out, count, details_, next);
  }

 private:
  // A cell as DuckDB lays it out. Up to 12 bytes it holds the text itself; longer texts live in the
  // vector they were put in, so that a cell is good for the column and chunk whose stamp it bears.
  struct Cell {
    duckdb_string_t text;
    uint32_t stamp = 0;
  };
  static constexpr uint32_t kAlways = UINT32_MAX;

  template <class Next>
  void fill_cached(duckdb_vector out, size_t count, std::vector<Cell>& cells, Next& next);
  void make_cell(duckdb_vector out, size_t row, std::string_view text, Cell& cell) const;
  std::string_view text_of(StringId id);
  std::string_view text_of(DetailId id);

  const Dictionary* dictionary_ = nullptr;
  const Rows* rows_ = nullptr;
  std::vector<Cell> texts_;
  std::vector<Cell> details_;
  uint32_t stamp_ = 0;
  std::string scratch_;
  std::vector<uint64_t> stack_hashes_;
};

// Marks cells of one vector as NULL.
class NullMarks {
 public:
  explicit NullMarks(duckdb_vector vector) : vector_(vector) {}
  void set(size_t row) {
    if (bits_ == nullptr) {
      loaded_duck_api().vector_ensure_validity_writable(vector_);
      bits_ = loaded_duck_api().vector_get_validity(vector_);
    }
    bits_[row / 64] &= ~(uint64_t{1} << (row % 64));
  }

 private:
  duckdb_vector vector_;
  uint64_t* bits_ = nullptr;
};

template <class Cell>
Cell* duck_cells(duckdb_vector vector) {
  return static_cast<Cell*>(loaded_duck_api().vector_get_data(vector));
}

template <class Next>
void FillSource::fill_cached(duckdb_vector out, size_t count, std::vector<Cell>& cells,
                             Next& next) {
  NullMarks nulls(out);
  auto* to = duck_cells<duckdb_string_t>(out);
  ++stamp_;
  for (size_t i = 0; i < count; ++i) {
    const auto id = next(i);
    if (index_of(id) == 0) {
      nulls.set(i);
      continue;
    }
    Cell& cell = cells[index_of(id)];
    if (cell.stamp != stamp_ && cell.stamp != kAlways) make_cell(out, i, text_of(id), cell);
    to[i] = cell.text;
  }
}

// The text itself if it is UTF-8, else `scratch` with U+FFFD for each byte that is not.
std::string_view valid_utf8(std::string_view text, std::string& scratch);

// Writes `count` rows from `begin` on into a vector, for one column of a table.
using ColumnFill =
    std::function<void(FillSource& from, size_t begin, size_t count, duckdb_vector out)>;

// By table number; without "stacks". In the order of all_tables()[table].columns.
const std::vector<ColumnFill>& column_fills(size_t table);

}  // namespace fathom
