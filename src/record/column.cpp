// SPDX-License-Identifier: Apache-2.0
#include "record/column.h"

namespace fathom {
namespace {

std::vector<TableColumns> make_tables() {
  std::vector<TableColumns> tables;
  for_each_table([&]<class Record>() {
    TableColumns table{TableOf<Record>::kName, TableOf<Record>::kHelp, {}};
    for_each_column<Record>(
        [&](const Column& column, const auto&, int) { table.columns.push_back(column); });
    tables.push_back(std::move(table));
  });
  using enum ColumnType;
  tables.push_back(
      {kStacksName,
       "One row a stack: its innermost frame, and the stack of its caller as parent",
       {{"id", kStack, false, "", "hash of the whole stack; equal stacks agree between runs"},
        {"parent", kStack, true, "", "the caller's stack; absent: this is the root"},
        {"depth", kInteger, false, "frames", "frames in the stack; the root has 1"},
        {"symbol", kText, true, "", "function"},
        {"module", kText, true, "", "binary it is in"},
        {"build_id", kText, true, "", "build id of that binary"},
        {"file", kText, true, "", "source file"},
        {"line", kInteger, true, "", "source line"},
        {"kind", kText, false, "", "kernel, native, inlined, java, python, gpu or unknown"}}});
  return tables;
}

}  // namespace

const char* sql_type(ColumnType type) {
  switch (type) {
    case ColumnType::kInteger:
      return "BIGINT";
    case ColumnType::kReal:
      return "DOUBLE";
    case ColumnType::kText:
    case ColumnType::kJson:
      return "VARCHAR";
    case ColumnType::kStack:
      return "UBIGINT";
    case ColumnType::kHistogram:
      return "BIGINT[]";
  }
  return "";
}

std::span<const TableColumns> all_tables() {
  static const std::vector<TableColumns> tables = make_tables();
  return tables;
}

}  // namespace fathom
