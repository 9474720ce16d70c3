// SPDX-License-Identifier: Apache-2.0
// Moves records from one dictionary to another, and keeps the last of each keyed record.
#pragma once

#include <map>
#include <vector>

#include "record/batch.h"

namespace fathom {

// Translates ids of one batch into an Interner's, each at most once. Lives no longer than either.
class Translator {
 public:
  Translator(const Batch& from, Interner& to);

  StringId operator()(StringId id);
  ThreadId operator()(ThreadId id);
  StackId operator()(StackId id);
  DetailId operator()(DetailId id);

  // A copy of `record` with every id translated; histograms are copied into `rows`.
  template <class Record>
  Record record(const Record& from, Rows& rows) {
    Record copy = from;
    for_each_field<Record>(
        [&](const auto& field, uint32_t) { translate(copy.*field.member, rows); });
    return copy;
  }

 private:
  template <class Member>
  void translate(Member& member, Rows& rows) {
    if constexpr (std::is_same_v<Member, Histogram>) {
      const auto offset = static_cast<uint32_t>(rows.buckets.size());
      for (uint32_t i = 0; i < member.length; ++i)
        rows.buckets.push_back(from_.rows.buckets[member.offset + i]);
      member.offset = offset;
    } else if constexpr (std::is_enum_v<Member>) {
      member = (*this)(member);
    }
  }

  const Batch& from_;
  Interner& to_;
  std::vector<StringId> strings_;
  std::vector<StackId> stacks_;
};

// Gives the strings of a record that is kept, and has no other ids, new ids in another interner.
template <class Record>
void carry_over(Record& record, const Dictionary& from, Interner& to) {
  for_each_field<Record>([&](const auto& field, uint32_t) {
    using Member = std::remove_cvref_t<decltype(record.*field.member)>;
    static_assert(!std::is_same_v<Member, StackId> && !std::is_same_v<Member, ThreadId> &&
                  !std::is_same_v<Member, DetailId>);
    if constexpr (std::is_same_v<Member, StringId>) {
      record.*field.member = to.string(from.text(record.*field.member));
    }
  });
}

// Adds all rows of `batch` to `rows`.
void add_translated(const Batch& batch, Interner& names, Rows& rows);

// Leaves the last record of each key, at the place of the first.
void keep_last(Rows& rows);

}  // namespace fathom
