// SPDX-License-Identifier: Apache-2.0
// One column of a chunk that a query gave, by row. Valid as long as the chunk; one thread.
#pragma once

#include <string_view>

#include "base/duckdb.h"

namespace fathom {

struct DuckCells {
  DuckCells(const DuckChunk& chunk, size_t column)
      : vector(loaded_duck_api().data_chunk_get_vector(chunk.get(), column)),
        data(loaded_duck_api().vector_get_data(vector)),
        validity(loaded_duck_api().vector_get_validity(vector)) {}

  [[nodiscard]] bool has(size_t row) const { return duck_valid(validity, row); }
  // What the column's type is must be known; 0 or nothing where the cell is NULL.
  template <class Value>
  [[nodiscard]] Value at(size_t row) const {
    return has(row) ? static_cast<const Value*>(data)[row] : Value{};
  }
  [[nodiscard]] std::string_view text(size_t row) const {
    return has(row) ? duck_text(static_cast<const duckdb_string_t*>(data)[row])
                    : std::string_view();
  }

  duckdb_vector vector;
  const void* data;
  const uint64_t* validity;
};

}  // namespace fathom
