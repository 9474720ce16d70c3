// SPDX-License-Identifier: Apache-2.0
// Records as JSON objects and CSV lines, column by column as schema.h lists them; a thread becomes
// pid and tid, as in the tables. Belongs to one thread; the batch must outlive it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/batch.h"

namespace fathom {

class RowText {
 public:
  RowText(const Dictionary& names, const Rows& rows) : names_(names), rows_(rows) {}

  // {"a":1,"b":null}; with an indent, one member a line.
  template <class Record>
  std::string json(const Record& record, std::string_view indent = {}) {
    const std::string separator = indent.empty() ? "" : "\n" + std::string(indent) + "  ";
    std::string text = "{";
    each(record, [&](const char* name, const std::string& value, Kind kind) {
      if (text.size() > 1) text += ',';
      text += separator + json_member(name, value, kind, indent.empty() ? "" : " ");
    });
    return text + (indent.empty() ? "}" : "\n" + std::string(indent) + "}");
  }

  template <class Record>
  std::string csv(const Record& record) {
    std::string text;
    bool first = true;
    each(record, [&](const char*, const std::string& value, Kind kind) {
      if (!first) text += ',';
      text += csv_cell(value, kind);
      first = false;
    });
    return text + "\n";
  }

  template <class Record>
  static std::string csv_header() {
    std::string text;
    for_each_field<Record>([&](const auto& field, uint32_t) {
      using Member = std::remove_cvref_t<decltype(std::declval<Record>().*field.member)>;
      if (!text.empty()) text += ',';
      text += std::is_same_v<Member, ThreadId> ? "pid,tid" : field.name;
    });
    return text + "\n";
  }

 private:
  enum class Kind { kNull, kNumber, kText, kJson };

  template <class Record, class Visit>
  void each(const Record& record, Visit&& visit) {
    for_each_field<Record>([&](const auto& field, uint32_t) {
      using Member = std::remove_cvref_t<decltype(record.*field.member)>;
      if constexpr (std::is_same_v<Member, ThreadId>) {
        const ThreadKey& thread = names_.threads[index_of(record.*field.member)];
        const Kind kind = record.*field.member == ThreadId::kNone ? Kind::kNull : Kind::kNumber;
        visit("pid", std::to_string(thread.pid), kind);
        visit("tid", std::to_string(thread.tid), kind);
      } else {
        auto [value, kind] = format(record.*field.member);
        visit(field.name, value, kind);
      }
    });
  }

  using Cell = std::pair<std::string, Kind>;
  static Cell format(int64_t value) { return {std::to_string(value), Kind::kNumber}; }
  static Cell format(const Maybe& value) {
    return value ? Cell{std::to_string(*value), Kind::kNumber} : Cell{"", Kind::kNull};
  }
  static Cell format(double value);
  Cell format(StringId id) const;
  Cell format(DetailId id) const;
  Cell format(StackId id);
  [[nodiscard]] Cell format(const Histogram& histogram) const;

  static std::string json_member(const char* name, const std::string& value, Kind kind,
                                 const char* space);
  static std::string csv_cell(const std::string& value, Kind kind);

  const Dictionary& names_;
  const Rows& rows_;
  std::vector<uint64_t> stack_hashes_;
};

}  // namespace fathom
