// SPDX-License-Identifier: Apache-2.0
// A cell of a query's result as text: for people and CSV, or as JSON, where integers of any size
// stay exact, text is valid UTF-8, lists are arrays, and NULL and what is not a number are null. No
// state: any thread.
#pragma once

#include <memory>
#include <string>

#include "base/duckdb.h"

namespace fathom {

enum class CellForm { kPlain, kJson };

class CellFormat {
 public:
  explicit CellFormat(const DuckType& type);

  // False: a type (timestamp, struct, …) that must be cast to VARCHAR in SQL first.
  [[nodiscard]] bool known() const;
  [[nodiscard]] bool numeric() const;
  // Appends the cell; NULL is nothing in plain text.
  void append(std::string& out, duckdb_vector vector, size_t row, CellForm form) const;

 private:
  void append_list(std::string& out, duckdb_vector vector, size_t row, CellForm form) const;
  void append_value(std::string& out, const void* data, size_t row, CellForm form) const;

  duckdb_type type_;
  duckdb_type stored_;  // what a DECIMAL is made of, else the type itself
  int scale_ = 0;
  std::unique_ptr<CellFormat> element_;
};

}  // namespace fathom
