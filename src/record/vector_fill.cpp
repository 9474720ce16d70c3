// SPDX-License-Identifier: Apache-2.0
#include "record/vector_fill.h"

#include <cstring>

#include "base/text.h"

namespace fathom {
namespace {

bool is_ascii(std::string_view text) {
  uint64_t any = 0;
  size_t i = 0;
  for (; i + sizeof any <= text.size(); i += sizeof any) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, sizeof word);
    any |= word;
  }
  for (; i < text.size(); ++i) any |= static_cast<unsigned char>(text[i]) & 0x80U;
  return (any & 0x8080808080808080U) == 0;
}

template <class Record, class Member>
struct FillMember {
  Member Record::*member;
  int part;

  void operator()(FillSource& from, size_t begin, size_t count, duckdb_vector out) const {
    const Record* rows = from.rows().of<Record>().data() + begin;
    const auto value = [&](size_t i) { return rows[i].*member; };
    if constexpr (std::is_same_v<Member, int64_t> || std::is_same_v<Member, double>) {
      auto* to = duck_cells<Member>(out);
      for (size_t i = 0; i < count; ++i) to[i] = rows[i].*member;
    } else if constexpr (std::is_same_v<Member, StringId>) {
      from.fill_text(out, count, value);
    } else if constexpr (std::is_same_v<Member, DetailId>) {
      from.fill_json(out, count, value);
    } else {
      fill_others(from, rows, count, out);
    }
  }

 private:
  void fill_others(FillSource& from, const Record* rows, size_t count, duckdb_vector out) const {
    NullMarks nulls(out);
    if constexpr (std::is_same_v<Member, Maybe>) {
      auto* to = duck_cells<int64_t>(out);
      for (size_t i = 0; i < count; ++i) {
        const Maybe& maybe = rows[i].*member;
        maybe ? void(to[i] = *maybe) : nulls.set(i);
      }
    } else if constexpr (std::is_same_v<Member, ThreadId>) {
      auto* to = duck_cells<int64_t>(out);
      for (size_t i = 0; i < count; ++i) {
        const ThreadId id = rows[i].*member;
        const ThreadKey& thread = from.dictionary().threads[index_of(id)];
        id == ThreadId::kNone ? nulls.set(i) : void(to[i] = part == 0 ? thread.pid : thread.tid);
      }
    } else if constexpr (std::is_same_v<Member, StackId>) {
      auto* to = duck_cells<uint64_t>(out);
      for (size_t i = 0; i < count; ++i) {
        const StackId id = rows[i].*member;
        id == StackId::kNone ? nulls.set(i) : void(to[i] = from.stack_hash(id));
      }
    } else {
      fill_histograms(from, rows, count, out);
    }
  }

  void fill_histograms(FillSource& from, const Record* rows, size_t count,
                       duckdb_vector out) const {
    const DuckApi& api = loaded_duck_api();
    NullMarks nulls(out);
    size_t total = 0;
    for (size_t i = 0; i < count; ++i) total += (rows[i].*member).length;
    api.list_vector_reserve(out, total);
    api.list_vector_set_size(out, total);
    auto* entries = duck_cells<duckdb_list_entry>(out);
    auto* to = duck_cells<int64_t>(api.list_vector_get_child(out));
    size_t used = 0;
    for (size_t i = 0; i < count; ++i) {
      const Histogram& range = rows[i].*member;
      entries[i] = {used, range.length};
      if (range.length == 0) nulls.set(i);
      const int64_t* buckets = from.rows().buckets.data() + range.offset;
      for (size_t k = 0; k < range.length; ++k) to[used++] = buckets[k];
    }
  }
};

std::vector<std::vector<ColumnFill>> make_fills() {
  std::vector<std::vector<ColumnFill>> fills;
  for_each_table([&]<class Record>() {
    fills.emplace_back();
    for_each_column<Record>([&](const Column&, const auto& field, int part) {
      using Member = std::remove_cvref_t<decltype(std::declval<Record>().*field.member)>;
      fills.back().emplace_back(FillMember<Record, Member>{field.member, part});
    });
  });
  return fills;
}

}  // namespace

std::string_view valid_utf8(std::string_view text, std::string& scratch) {
  if (is_ascii(text)) return text;
  bool valid = true;
  scratch.clear();
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint point = decode_utf8(rest);
    valid &= point.valid;
    scratch += point.valid ? rest.substr(0, point.bytes) : std::string_view("\xEF\xBF\xBD");
    rest.remove_prefix(point.bytes);
  }
  return valid ? text : scratch;
}

void FillSource::take(const Dictionary& dictionary, const Rows& rows) {
  dictionary_ = &dictionary;
  rows_ = &rows;
  texts_.assign(dictionary.strings.size(), {});
  details_.assign(dictionary.details.size(), {});
  stack_hashes_.clear();
  stamp_ = 0;
}

uint64_t FillSource::stack_hash(StackId id) {
  if (stack_hashes_.empty()) stack_hashes_ = dictionary_->stack_hashes();
  return stack_hashes_[index_of(id)];
}

void FillSource::make_cell(duckdb_vector out, size_t row, std::string_view text, Cell& cell) const {
  if (text.size() <= sizeof cell.text.value.inlined.inlined) {
    cell.text = {};
    cell.text.value.inlined.length = static_cast<uint32_t>(text.size());
    std::memcpy(cell.text.value.inlined.inlined, text.data(), text.size());
    cell.stamp = kAlways;
    return;
  }
  loaded_duck_api().vector_assign_string_element_len(out, row, text.data(), text.size());
  cell.text = duck_cells<duckdb_string_t>(out)[row];
  cell.stamp = stamp_;
}

std::string_view FillSource::text_of(StringId id) {
  return valid_utf8(dictionary_->text(id), scratch_);
}

std::string_view FillSource::text_of(DetailId id) {
  scratch_ = dictionary_->detail_json(id);
  return scratch_;
}

const std::vector<ColumnFill>& column_fills(size_t table) {
  static const std::vector<std::vector<ColumnFill>> fills = make_fills();
  return fills[table];
}

}  // namespace fathom
