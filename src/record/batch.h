// SPDX-License-Identifier: Apache-2.0
// Records on their way: Rows is a list per table; Batch is what one frame decodes to, complete in
// itself.
#pragma once

#include <tuple>
#include <vector>

#include "record/dictionary.h"
#include "record/schema.h"

namespace fathom {

template <class Tuple>
struct ListPerTable;
template <class... Records>
struct ListPerTable<std::tuple<Records...>> {
  std::tuple<std::vector<Records>...> lists;
};

struct Rows {
  ListPerTable<AllRecords> tables;
  std::vector<int64_t> buckets;  // what Histogram ranges refer to

  template <class Record>
  std::vector<Record>& of() {
    return std::get<std::vector<Record>>(tables.lists);
  }
  template <class Record>
  [[nodiscard]] const std::vector<Record>& of() const {
    return std::get<std::vector<Record>>(tables.lists);
  }
  [[nodiscard]] size_t count() const {
    return std::apply([](const auto&... list) { return (list.size() + ...); }, tables.lists);
  }
  [[nodiscard]] TableSet present() const {
    TableSet set = 0;
    for_each_table([&]<class Record>() {
      if (!of<Record>().empty()) set |= tables_of<Record>();
    });
    return set;
  }
  void clear() {
    std::apply([](auto&... list) { (list.clear(), ...); }, tables.lists);
    buckets.clear();
  }
};

struct Batch {
  std::vector<char>
      bytes;  // owns what dictionary.strings point into (a string would move small ones)
  Dictionary dictionary;
  Rows rows;

  Batch() = default;
  Batch(Batch&&) = default;
  Batch& operator=(Batch&&) = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
};

}  // namespace fathom
