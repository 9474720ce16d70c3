// SPDX-License-Identifier: Apache-2.0
// Reads columns of DuckDB vectors back into records: the other direction of vector_fill.h. A cell
// that is NULL leaves the record's default. Belongs to one thread.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/duckdb.h"
#include "record/batch.h"
#include "record/column.h"
#include "record/merge.h"

namespace fathom {

// The table "stacks" in memory: what the hashes of samples and spans stand for.
class StackTable {
 public:
  void add(uint64_t id, std::optional<uint64_t> parent, const Frame& frame);
  Interner& names() { return names_; }
  // No more is added: the stacks as a batch that a Translator reads from.
  void finish();
  [[nodiscard]] const Batch& batch() const { return batch_; }
  // kNone: there is no such stack.
  [[nodiscard]] StackId find(uint64_t id) const;

 private:
  Interner names_;
  std::unordered_map<uint64_t, StackId> ids_;
  Batch batch_;
};

// Records of one table on their way into a batch.
class ReadTarget {
 public:
  explicit ReadTarget(const StackTable& stacks)
      : translate_(stacks.batch(), names), stacks_(stacks) {}

  Interner names;
  Rows rows;

  StackId stack(uint64_t id);
  [[nodiscard]] bool complete() const { return complete_; }  // false: a stack was not there

 private:
  Translator translate_;
  const StackTable& stacks_;
  bool complete_ = true;
};

// How one column of a table comes from the file: what to SELECT, one or more vectors, and what to
// do with them.
struct ColumnRead {
  Column column;
  size_t vectors = 1;
  // Vectors begin at column `first` of the chunk; the records at `begin` of their list.
  std::function<void(ReadTarget& to, size_t begin, size_t count, duckdb_data_chunk from,
                     size_t first)>
      read;
};

// By table number; without "stacks".
const std::vector<ColumnRead>& column_reads(size_t table);

// SQL for the vectors of a column, given SQL for the column itself.
std::string column_read_sql(const ColumnRead& read, const std::string& column);

}  // namespace fathom
