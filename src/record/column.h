// SPDX-License-Identifier: Apache-2.0
// The schema as SQL sees it: every table with its columns, made from schema.h. A thread becomes the
// columns pid and tid, a stack the id of a row in the table "stacks", a detail a JSON object, a
// histogram a list. The table "stacks" is no record: it is made from the dictionaries and stands
// here last. Constants: any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/schema.h"

namespace fathom {

enum class ColumnType { kInteger, kReal, kText, kStack, kJson, kHistogram };

struct Column {
  const char* name;
  ColumnType type;
  bool nullable;  // NULL: not measured, or not there
  const char* unit;
  const char* help;
};

struct TableColumns {
  const char* name;
  const char* help;
  std::vector<Column> columns;
};

// "BIGINT" and so on.
const char* sql_type(ColumnType type);

constexpr size_t kStacksTable = kTableCount;  // its number among all_tables()
constexpr const char* kStacksName = "stacks";

// By table number, "stacks" last.
std::span<const TableColumns> all_tables();

// Calls visit(column, field, part) for each column of a record; part 1 is the tid of a thread.
template <class Record, class Visit>
void for_each_column(Visit&& visit) {
  for_each_field<Record>([&](const auto& field, uint32_t) {
    using Member = std::remove_cvref_t<decltype(std::declval<Record>().*field.member)>;
    const auto one = [&](ColumnType type, bool nullable) {
      visit(Column{field.name, type, nullable, field.unit, field.help}, field, 0);
    };
    if constexpr (std::is_same_v<Member, int64_t>) one(ColumnType::kInteger, false);
    if constexpr (std::is_same_v<Member, Maybe>) one(ColumnType::kInteger, true);
    if constexpr (std::is_same_v<Member, double>) one(ColumnType::kReal, false);
    if constexpr (std::is_same_v<Member, StringId>) one(ColumnType::kText, true);
    if constexpr (std::is_same_v<Member, StackId>) one(ColumnType::kStack, true);
    if constexpr (std::is_same_v<Member, DetailId>) one(ColumnType::kJson, true);
    if constexpr (std::is_same_v<Member, Histogram>) one(ColumnType::kHistogram, true);
    if constexpr (std::is_same_v<Member, ThreadId>) {
      visit(Column{"pid", ColumnType::kInteger, true, "", "process of the thread"}, field, 0);
      visit(Column{"tid", ColumnType::kInteger, true, "", "thread id"}, field, 1);
    }
  });
}

}  // namespace fathom
