// SPDX-License-Identifier: Apache-2.0
#include "record/merge.h"

namespace fathom {

Translator::Translator(const Batch& from, Interner& to)
    : from_(from),
      to_(to),
      strings_(from.dictionary.strings.size()),
      stacks_(from.dictionary.stacks.size()) {}

StringId Translator::operator()(StringId id) {
  if (id == StringId::kNone) return id;
  StringId& known = strings_[index_of(id)];
  if (known == StringId::kNone) known = to_.string(from_.dictionary.text(id));
  return known;
}

ThreadId Translator::operator()(ThreadId id) {
  if (id == ThreadId::kNone) return id;
  const ThreadKey& thread = from_.dictionary.threads[index_of(id)];
  return to_.thread(thread.pid, thread.tid);
}

StackId Translator::operator()(StackId id) {
  std::vector<StackId> path;
  while (id != StackId::kNone && stacks_[index_of(id)] == StackId::kNone) {
    path.push_back(id);
    id = from_.dictionary.stacks[index_of(id)].parent;
  }
  StackId known = id == StackId::kNone ? id : stacks_[index_of(id)];
  for (auto node = path.rbegin(); node != path.rend(); ++node) {
    Frame frame = from_.dictionary.frames[index_of(from_.dictionary.stacks[index_of(*node)].frame)];
    for (StringId* part : {&frame.symbol, &frame.module, &frame.build_id, &frame.file})
      *part = (*this)(*part);
    known = to_.stack(known, to_.frame(frame));
    stacks_[index_of(*node)] = known;
  }
  return known;
}

DetailId Translator::operator()(DetailId id) {
  std::vector<DetailItem> items;
  for (const DetailItem& item : from_.dictionary.items(id)) {
    DetailItem copy = item;
    copy.key = (*this)(item.key);
    if (const auto* text = std::get_if<StringId>(&item.value)) copy.value = (*this)(*text);
    items.push_back(copy);
  }
  return to_.detail(items);
}

void add_translated(const Batch& batch, Interner& names, Rows& rows) {
  Translator translate(batch, names);
  for_each_table([&]<class Record>() {
    for (const Record& record : batch.rows.of<Record>())
      rows.of<Record>().push_back(translate.record(record, rows));
  });
}

void keep_last(Rows& rows) {
  for_each_table([&]<class Record>() {
    if constexpr (Keyed<Record>) {
      std::vector<Record>& list = rows.of<Record>();
      std::map<decltype(std::declval<const Record&>().key()), size_t> place;
      size_t kept = 0;
      for (const Record& record : list) {
        const auto [entry, first] = place.try_emplace(record.key(), kept);
        list[entry->second] = record;
        if (first) ++kept;
      }
      list.resize(kept);
    }
  });
}

}  // namespace fathom
