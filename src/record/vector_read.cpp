// SPDX-License-Identifier: Apache-2.0
#include "record/vector_read.h"

#include <charconv>
#include <cmath>

namespace fathom {
namespace {

// One vector of a chunk.
struct Cells {
  Cells(duckdb_data_chunk chunk, size_t column)
      : vector(loaded_duck_api().data_chunk_get_vector(chunk, column)),
        data(loaded_duck_api().vector_get_data(vector)),
        validity(loaded_duck_api().vector_get_validity(vector)) {}

  [[nodiscard]] bool has(size_t row) const { return duck_valid(validity, row); }
  template <class Value>
  [[nodiscard]] Value at(size_t row) const {
    return static_cast<const Value*>(data)[row];
  }
  [[nodiscard]] std::string_view text(size_t row) const {
    return duck_text(static_cast<const duckdb_string_t*>(data)[row]);
  }

  duckdb_vector vector;
  const void* data;
  const uint64_t* validity;
};

// The child of a list vector.
struct ListCells {
  explicit ListCells(const Cells& list)
      : vector(loaded_duck_api().list_vector_get_child(list.vector)),
        data(loaded_duck_api().vector_get_data(vector)),
        validity(loaded_duck_api().vector_get_validity(vector)) {}
  [[nodiscard]] std::string_view text(size_t at) const {
    return duck_valid(validity, at) ? duck_text(static_cast<const duckdb_string_t*>(data)[at])
                                    : std::string_view();
  }

  duckdb_vector vector;
  const void* data;
  const uint64_t* validity;
};

template <class Number>
Number parse(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// A value of a JSON object by the type that DuckDB gives it. Numbers that are not finite are
// written as null.
DetailValue detail_value(Interner& names, std::string_view type, std::string_view text) {
  if (type == "BIGINT" || type == "UBIGINT") return parse<int64_t>(text);
  if (type == "DOUBLE") return parse<double>(text);
  if (type == "NULL") return std::nan("");
  return names.string(text);
}

template <class Record, class Member>
struct ReadMember {
  Member Record::*member;
  int part;

  void operator()(ReadTarget& to, size_t begin, size_t count, duckdb_data_chunk from,
                  size_t first) const {
    Record* rows = to.rows.of<Record>().data() + begin;
    if constexpr (std::is_same_v<Member, DetailId>) {
      read_details(to, rows, count, from, first);
    } else if constexpr (std::is_same_v<Member, ThreadId>) {
      if (part == 1) read_threads(to, rows, count, Cells(from, first - 1), Cells(from, first));
    } else {
      const Cells cells(from, first);
      for (size_t i = 0; i < count; ++i) {
        if (cells.has(i)) read_cell(to, rows[i].*member, cells, i);
      }
    }
  }

 private:
  void read_cell(ReadTarget& to, Member& value, const Cells& cells, size_t row) const {
    if constexpr (std::is_same_v<Member, int64_t> || std::is_same_v<Member, Maybe>) {
      value = cells.at<int64_t>(row);
    } else if constexpr (std::is_same_v<Member, double>) {
      value = cells.at<double>(row);
    } else if constexpr (std::is_same_v<Member, StringId>) {
      value = to.names.string(cells.text(row));
    } else if constexpr (std::is_same_v<Member, StackId>) {
      value = to.stack(cells.at<uint64_t>(row));
    } else {
      const auto list = cells.at<duckdb_list_entry>(row);
      const ListCells child(cells);
      value = {static_cast<uint32_t>(to.rows.buckets.size()), static_cast<uint32_t>(list.length)};
      const int64_t* buckets = static_cast<const int64_t*>(child.data) + list.offset;
      to.rows.buckets.insert(to.rows.buckets.end(), buckets, buckets + list.length);
    }
  }

  void read_threads(ReadTarget& to, Record* rows, size_t count, const Cells& pids,
                    const Cells& tids) const {
    for (size_t i = 0; i < count; ++i) {
      if (!pids.has(i) || !tids.has(i)) continue;
      rows[i].*member = to.names.thread(pids.at<int64_t>(i), tids.at<int64_t>(i));
    }
  }

  // Three lists: keys, types, values as text.
  void read_details(ReadTarget& to, Record* rows, size_t count, duckdb_data_chunk from,
                    size_t first) const {
    const Cells keys(from, first);
    const Cells types(from, first + 1);
    const Cells values(from, first + 2);
    const ListCells key_texts(keys);
    const ListCells type_texts(types);
    const ListCells value_texts(values);
    std::vector<DetailItem> items;
    for (size_t i = 0; i < count; ++i) {
      if (!keys.has(i)) continue;
      items.clear();
      const auto list = keys.at<duckdb_list_entry>(i);
      const size_t types_at = types.at<duckdb_list_entry>(i).offset;
      const size_t values_at = values.at<duckdb_list_entry>(i).offset;
      for (size_t k = 0; k < list.length; ++k) {
        const DetailValue value =
            detail_value(to.names, type_texts.text(types_at + k), value_texts.text(values_at + k));
        items.push_back({to.names.string(key_texts.text(list.offset + k)), value});
      }
      rows[i].*member = to.names.detail(items);
    }
  }
};

std::vector<std::vector<ColumnRead>> make_reads() {
  std::vector<std::vector<ColumnRead>> reads;
  for_each_table([&]<class Record>() {
    reads.emplace_back();
    for_each_column<Record>([&](const Column& column, const auto& field, int part) {
      using Member = std::remove_cvref_t<decltype(std::declval<Record>().*field.member)>;
      const size_t vectors = column.type == ColumnType::kJson ? 3 : 1;
      reads.back().push_back({column, vectors, ReadMember<Record, Member>{field.member, part}});
    });
  });
  return reads;
}

}  // namespace

void StackTable::add(uint64_t id, std::optional<uint64_t> parent, const Frame& frame) {
  ids_.emplace(id, names_.stack(parent ? find(*parent) : StackId::kNone, names_.frame(frame)));
}

void StackTable::finish() { batch_.dictionary = names_.dictionary(); }

StackId StackTable::find(uint64_t id) const {
  const auto found = ids_.find(id);
  return found == ids_.end() ? StackId::kNone : found->second;
}

StackId ReadTarget::stack(uint64_t id) {
  const StackId known = stacks_.find(id);
  if (known == StackId::kNone) complete_ = false;
  return translate_(known);
}

const std::vector<ColumnRead>& column_reads(size_t table) {
  static const std::vector<std::vector<ColumnRead>> reads = make_reads();
  return reads[table];
}

std::string column_read_sql(const ColumnRead& read, const std::string& column) {
  if (read.column.type != ColumnType::kJson) return column;
  // A key is looked up by JSON pointer, in which '~' and '/' are escaped.
  const std::string pointer = "'/' || replace(replace(k, '~', '~0'), '/', '~1')";
  const std::string keys = "json_keys(" + column + ")";
  return keys + ", list_transform(" + keys + ", lambda k: json_type(" + column + ", " + pointer +
         "))" + ", list_transform(" + keys + ", lambda k: json_extract_string(" + column + ", " +
         pointer + "))";
}

}  // namespace fathom
