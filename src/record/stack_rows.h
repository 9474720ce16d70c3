// SPDX-License-Identifier: Apache-2.0
// Rows of the table "stacks": every stack of a recording once, from the dictionaries of its frames.
// StackRows belongs to one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "record/dictionary.h"
#include "record/vector_fill.h"

namespace fathom {

// A set of hashes, which need no further hashing. Holds at most half of its slots.
class HashSet {
 public:
  bool insert(uint64_t hash);  // false: it was there

 private:
  void grow();

  std::vector<uint64_t> slots_ = std::vector<uint64_t>(1024);
  size_t used_ = 0;
  bool has_zero_ = false;  // 0 marks a free slot
};

struct StackRow {
  uint64_t id = 0;
  uint64_t parent = 0;
  bool is_root = false;
  int64_t depth = 1;
  Frame frame;
};

class StackRows {
 public:
  // The stacks of a dictionary that none before it had.
  std::vector<StackRow> fresh(const Dictionary& dictionary);

 private:
  HashSet seen_;
};

// Writes `count` rows into a vector, for a column of all_tables()[kStacksTable].
void fill_stack_column(size_t column, FillSource& from, const StackRow* rows, size_t count,
                       duckdb_vector out);

}  // namespace fathom
