// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <limits>

#include "record/frame.h"
#include "record/frame_columns.h"
#include "record/frame_layout.h"
#include "record/frame_packer.h"
#include "record/varint.h"

namespace fathom {

class FrameEncoder::Body {
 public:
  Result<std::string> encode(const Dictionary& dictionary, const Rows& rows, uint32_t flags) {
    dictionary_ = &dictionary;
    rows_ = &rows;
    longest_list_ = 0;
    most_buckets_ = 0;
    tables_.clear();
    for_each_table([this]<class Record>() { add_table<Record>(); });
    add_dictionary();
    for (LocalIds* ids : {&strings_, &threads_, &frames_, &stacks_, &details_}) {
      longest_list_ = std::max(longest_list_, ids->used().size());
      ids->clear();
    }
    if (longest_list_ > kMaxListLength || most_buckets_ > kMaxBuckets) {
      return Error{Code::kInvalid, "the records are too many for one frame"};
    }
    payload_.clear();
    payload_.add_message(frame_layout::kDictionary, names_);
    payload_.append(tables_);
    return packer_.pack(payload_.bytes(), payload_.cuts(), rows.present(), flags);
  }

 private:
  template <class Record>
  void add_table() {
    const std::vector<Record>& list = rows_->of<Record>();
    if (list.empty()) return;
    CHECK(list.size() <= kMaxRowsPerTable);
    table_.clear();
    table_.add_number(frame_layout::kRowCount, static_cast<uint32_t>(list.size()));
    for_each_field<Record>(
        [&](const auto& field, uint32_t number) { add_column(list, field, number); });
    tables_.add_message(frame_layout::table_field<Record>(), table_);
  }

  template <class Record, class Member>
  void add_column(const std::vector<Record>& list, const Field<Record, Member>& field,
                  uint32_t number) {
    const auto member = field.member;
    if constexpr (std::is_same_v<Member, Histogram>) {
      add_histograms(list, member, number);
    } else if (field.coding == Coding::kDelta) {
      if constexpr (std::is_same_v<Member, int64_t>) {
        uint64_t before = 0;
        const auto step = [&](size_t i) {
          const auto value = static_cast<uint64_t>(list[i].*member);
          return zigzag(static_cast<int64_t>(value - std::exchange(before, value)));
        };
        table_.add_column(number, column_.pack(list.size(), step));
      }
    } else if (field.base != nullptr) {
      if constexpr (std::is_same_v<Member, Maybe>) {
        const auto value = [&](size_t i) {
          return coded(difference(list[i].*member, list[i].*field.base));
        };
        table_.add_column(number, column_.pack(list.size(), value));
      }
    } else {
      const auto value = [&](size_t i) { return coded(list[i].*member); };
      table_.add_column(number, column_.pack(list.size(), value));
    }
  }

  template <class Record>
  void add_histograms(const std::vector<Record>& list, Histogram Record::*member, uint32_t number) {
    size_t total = 0;
    const auto length = [&](size_t i) {
      total += (list[i].*member).length;
      return uint64_t{(list[i].*member).length};
    };
    table_.add_column(number, column_.pack(list.size(), length));
    most_buckets_ = std::max(most_buckets_, total);
    if (total > kMaxBuckets) return;
    buckets_.clear();
    for (const Record& record : list) {
      const Histogram range = record.*member;
      const auto first = rows_->buckets.begin() + range.offset;
      buckets_.insert(buckets_.end(), first, first + range.length);
    }
    const auto bucket = [&](size_t i) { return zigzag(buckets_[i]); };
    table_.add_column(number + frame_layout::kBucketsOffset,
                      column_.pack(total, bucket, /*keep_zeros=*/true));
  }

  static Maybe difference(const Maybe& value, const Maybe& base) {
    if (!value || !base) return value;
    return static_cast<int64_t>(static_cast<uint64_t>(*value) - static_cast<uint64_t>(*base));
  }

  // 0 is "not measured", so that of the smallest integer and its neighbour only the latter has a
  // place.
  static uint64_t coded(const Maybe& value) {
    constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min() + 1;
    return value ? zigzag(std::max(*value, kSmallest)) + 1 : 0;
  }
  static uint64_t coded(int64_t value) { return zigzag(value); }
  static uint64_t coded(double value) { return __builtin_bswap64(std::bit_cast<uint64_t>(value)); }
  uint64_t coded(StringId id) { return strings_.of(index_of(id)); }
  uint64_t coded(ThreadId id) { return threads_.of(index_of(id)); }
  uint64_t coded(DetailId id) { return details_.of(index_of(id)); }
  uint64_t coded(FrameId id) { return frames_.of(index_of(id)); }
  uint64_t coded(StackId id) {
    if (!stacks_.has(index_of(id))) number_from_root(id);
    return stacks_.of(index_of(id));
  }
  // A parent's number must be smaller than its child's.
  void number_from_root(StackId id) {
    path_.clear();
    for (size_t node = index_of(id); node != 0 && !stacks_.has(node);
         node = index_of(dictionary_->stacks[node].parent)) {
      path_.push_back(node);
    }
    for (auto node = path_.rbegin(); node != path_.rend(); ++node) stacks_.of(*node);
  }

  // Lists in an order in which each comes before what it refers to: the ids it uses get their
  // numbers here.
  void add_dictionary() {
    names_.clear();
    add_details();
    add_stacks();
    add_frames();
    const auto thread = [&](size_t i) -> const ThreadKey& {
      return dictionary_->threads[threads_.used()[i]];
    };
    const size_t threads = threads_.used().size();
    add_names(frame_layout::kThreadPids, threads, [&](size_t i) { return coded(thread(i).pid); });
    add_list(frame_layout::kThreadTids, threads, [&](size_t i) { return coded(thread(i).tid); });
    for (const uint32_t id : strings_.used()) {
      names_.add_bytes(frame_layout::kStrings, dictionary_->strings[id]);
    }
  }

  // A column of a list, left out if all of it is 0.
  template <class Next>
  void add_names(uint32_t field, size_t count, Next&& next) {
    names_.add_column(field, column_.pack(count, next));
  }
  // The column that says how long its list is, and so is never left out.
  template <class Next>
  void add_list(uint32_t field, size_t count, Next&& next) {
    names_.add_column(field, column_.pack(count, next, /*keep_zeros=*/true));
  }

  void add_stacks() {
    const auto stack = [&](size_t i) -> const StackNode& {
      return dictionary_->stacks[stacks_.used()[i]];
    };
    const size_t count = stacks_.used().size();
    add_list(frame_layout::kStackParents, count, [&](size_t i) -> uint64_t {
      const uint32_t parent = stacks_.of(index_of(stack(i).parent));
      return parent == 0 ? 0 : i + 1 - parent;
    });
    add_names(frame_layout::kStackFrames, count, [&](size_t i) { return coded(stack(i).frame); });
  }

  void add_frames() {
    const auto frame = [&](size_t i) -> const Frame& {
      return dictionary_->frames[frames_.used()[i]];
    };
    const size_t count = frames_.used().size();
    add_list(frame_layout::kFrameSymbols, count, [&](size_t i) { return coded(frame(i).symbol); });
    add_names(frame_layout::kFrameModules, count, [&](size_t i) { return coded(frame(i).module); });
    add_names(frame_layout::kFrameBuildIds, count,
              [&](size_t i) { return coded(frame(i).build_id); });
    add_names(frame_layout::kFrameFiles, count, [&](size_t i) { return coded(frame(i).file); });
    add_names(frame_layout::kFrameLines, count, [&](size_t i) { return uint64_t{frame(i).line}; });
    add_names(frame_layout::kFrameKinds, count,
              [&](size_t i) { return static_cast<uint64_t>(frame(i).kind); });
  }

  void add_details() {
    items_.clear();
    for (const uint32_t id : details_.used()) {
      for (const DetailItem& item : dictionary_->items(static_cast<DetailId>(id))) {
        items_.push_back(&item);
      }
    }
    longest_list_ = std::max(longest_list_, items_.size());
    add_list(frame_layout::kDetailLengths, details_.used().size(),
             [&](size_t i) { return uint64_t{dictionary_->details[details_.used()[i]].length}; });
    const size_t count = items_.size();
    add_names(frame_layout::kDetailKeys, count, [&](size_t i) { return coded(items_[i]->key); });
    add_list(frame_layout::kDetailTypes, count,
             [&](size_t i) { return uint64_t{items_[i]->value.index()}; });
    add_names(frame_layout::kDetailValues, count, [&](size_t i) {
      return std::visit([&](const auto& value) { return coded(value); }, items_[i]->value);
    });
  }

  const Dictionary* dictionary_ = nullptr;
  const Rows* rows_ = nullptr;
  LocalIds strings_, threads_, frames_, stacks_, details_;
  size_t longest_list_ = 0, most_buckets_ = 0;
  ColumnBuffer column_;
  ColumnMessage table_, tables_, names_, payload_;
  std::vector<size_t> path_;
  std::vector<int64_t> buckets_;
  std::vector<const DetailItem*> items_;
  FramePacker packer_;
};

FrameEncoder::FrameEncoder() : body_(std::make_unique<Body>()) {}
FrameEncoder::~FrameEncoder() = default;

Result<std::string> FrameEncoder::encode(const Dictionary& dictionary, const Rows& rows,
                                         uint32_t flags) {
  return body_->encode(dictionary, rows, flags);
}

}  // namespace fathom
