// SPDX-License-Identifier: Apache-2.0
// The exact text of records, by which they are compared where their ids belong to different
// dictionaries. One thread.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <string>
#include <vector>

#include "record/batch.h"
#include "record/schema.h"

namespace fathom {

// A record as text without any id in it, exact to the bit.
class ExactText {
 public:
  ExactText(const Dictionary& names, const Rows& rows) : names_(names), rows_(rows) {}

  template <class Record>
  std::string of(const Record& record) {
    text_ = TableOf<Record>::kName;
    for_each_field<Record>([&](const auto& field, uint32_t) {
      text_ += std::string(" ") + field.name + "=";
      add(record.*field.member);
    });
    return text_;
  }

 private:
  void add(int64_t value) { text_ += std::to_string(value); }
  void add(const Maybe& value) { text_ += value ? std::to_string(*value) : "-"; }
  void add(double value) { text_ += fmt::format("{:x}", std::bit_cast<uint64_t>(value)); }
  void add(StringId id) { text_ += "'" + std::string(names_.text(id)) + "'"; }
  void add(ThreadId id) {
    const ThreadKey& thread = names_.threads[index_of(id)];
    text_ += id == ThreadId::kNone ? "-" : fmt::format("{}/{}", thread.pid, thread.tid);
  }
  void add(StackId id) {
    for (; id != StackId::kNone; id = names_.stacks[index_of(id)].parent) {
      const Frame& frame = names_.frames[index_of(names_.stacks[index_of(id)].frame)];
      for (const StringId part : {frame.symbol, frame.module, frame.build_id, frame.file})
        add(part);
      text_ += fmt::format("{}:{}<", frame.line, static_cast<int>(frame.kind));
    }
  }
  void add(DetailId id) {
    if (id == DetailId::kNone) text_ += "-";
    for (const DetailItem& item : names_.items(id)) {
      add(item.key);
      text_ += fmt::format("#{}:", item.value.index());
      std::visit([&](const auto& value) { add(value); }, item.value);
    }
  }
  void add(const Histogram& range) {
    for (uint32_t i = 0; i < range.length; ++i) {
      text_ += std::to_string(rows_.buckets[range.offset + i]) + ",";
    }
  }

  const Dictionary& names_;
  const Rows& rows_;
  std::string text_;
};

// Every record of `rows` in order.
inline std::vector<std::string> exact_lines(const Dictionary& names, const Rows& rows) {
  std::vector<std::string> lines;
  ExactText text(names, rows);
  for_each_table([&]<class Record>() {
    for (const Record& record : rows.of<Record>()) lines.push_back(text.of(record));
  });
  return lines;
}

}  // namespace fathom
