// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <bit>
#include <cstring>
#include <protozero/pbf_writer.hpp>

#include "base/crc32c.h"
#include "record/frame.h"
#include "record/frame_layout.h"
#include "record/varint.h"

namespace fathom {
namespace {

constexpr int kCompressionLevel = 1;

// Gives the ids used in this frame numbers of its own, 1, 2, 3 … in order of first use.
class LocalIds {
 public:
  uint32_t of(size_t global) {
    if (global == 0) return 0;
    if (global >= local_.size()) local_.resize(std::max(global + 1, local_.size() * 2));
    uint32_t& local = local_[global];
    if (local == 0) {
      used_.push_back(static_cast<uint32_t>(global));
      local = static_cast<uint32_t>(used_.size());
    }
    return local;
  }
  [[nodiscard]] bool has(size_t global) const {
    return global < local_.size() && local_[global] != 0;
  }
  [[nodiscard]] const std::vector<uint32_t>& used() const { return used_; }
  void clear() {
    for (const uint32_t global : used_) local_[global] = 0;
    used_.clear();
  }

 private:
  std::vector<uint32_t> local_;
  std::vector<uint32_t> used_;
};

// Packs one column into a buffer that is kept from column to column.
class ColumnBuffer {
 public:
  // next(i) is the value of row i. Returns the packed bytes; empty if every value is 0.
  template <class Next>
  std::string_view pack(size_t rows, Next&& next) {
    if (bytes_.size() < rows * kMaxVarintBytes) bytes_.resize(rows * kMaxVarintBytes);
    char* at = bytes_.data();
    uint64_t any = 0;
    for (size_t i = 0; i < rows; ++i) {
      const uint64_t value = next(i);
      any |= value;
      at = put_varint(at, value);
    }
    return any == 0 ? std::string_view()
                    : std::string_view(bytes_.data(), static_cast<size_t>(at - bytes_.data()));
  }

 private:
  std::vector<char> bytes_;
};

Error too_large() { return Error{Code::kInvalid, "the records are too large for one frame"}; }

void put_u32(char* at, uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<char>(value >> (8 * i));
}

}  // namespace

class FrameEncoder::Body {
 public:
  Body() : zstd_(ZSTD_createCCtx(), ZSTD_freeCCtx) {}

  Result<std::string> encode(const Dictionary& dictionary, const Rows& rows, uint32_t flags) {
    dictionary_ = &dictionary;
    rows_ = &rows;
    tables_bytes_.clear();
    dictionary_bytes_.clear();
    for_each_table([this]<class Record>() { add_table<Record>(); });
    add_dictionary();
    size_t longest = 0;
    for (const LocalIds* ids : {&strings_, &threads_, &frames_, &stacks_, &details_}) {
      longest = std::max(longest, ids->used().size());
    }
    Result<std::string> frame =
        longest <= kMaxListLength ? compress(rows.present(), flags) : too_large();
    for (LocalIds* ids : {&strings_, &threads_, &frames_, &stacks_, &details_}) ids->clear();
    return frame;
  }

 private:
  template <class Record>
  void add_table() {
    const std::vector<Record>& list = rows_->of<Record>();
    if (list.empty()) return;
    CHECK(list.size() <= kMaxRowsPerTable);
    table_bytes_.clear();
    protozero::pbf_writer table(table_bytes_);
    table.add_uint32(frame_layout::kRowCount, static_cast<uint32_t>(list.size()));
    for_each_field<Record>(
        [&](const auto& field, uint32_t number) { add_column(table, list, field, number); });
    protozero::pbf_writer(tables_bytes_)
        .add_message(frame_layout::kFirstTable + static_cast<uint32_t>(table_number<Record>()),
                     table_bytes_);
  }

  template <class Record, class Member>
  void add_column(protozero::pbf_writer& table, const std::vector<Record>& list,
                  const Field<Record, Member>& field, uint32_t number) {
    const auto member = field.member;
    if constexpr (std::is_same_v<Member, Histogram>) {
      add_histograms(table, list, member, number);
    } else {
      int64_t before = 0;
      const bool delta = field.coding == Coding::kDelta;
      const std::string_view packed = column_.pack(list.size(), [&](size_t i) {
        if constexpr (std::is_same_v<Member, int64_t>) {
          const int64_t value = list[i].*member;
          if (!delta) return zigzag(value);
          const auto difference =
              static_cast<int64_t>(static_cast<uint64_t>(value) - static_cast<uint64_t>(before));
          before = value;
          return zigzag(difference);
        } else {
          return coded(list[i].*member);
        }
      });
      if (!packed.empty()) table.add_bytes(number, packed.data(), packed.size());
    }
  }

  template <class Record>
  void add_histograms(protozero::pbf_writer& table, const std::vector<Record>& list,
                      Histogram Record::*member, uint32_t number) {
    const std::string_view lengths =
        column_.pack(list.size(), [&](size_t i) { return (list[i].*member).length; });
    if (lengths.empty()) return;
    table.add_bytes(number, lengths.data(), lengths.size());
    bucket_bytes_.clear();
    char value_bytes[kMaxVarintBytes];
    for (const Record& record : list) {
      const Histogram range = record.*member;
      for (uint32_t i = 0; i < range.length; ++i) {
        const char* end = put_varint(value_bytes, zigzag(rows_->buckets[range.offset + i]));
        bucket_bytes_.append(value_bytes, static_cast<size_t>(end - value_bytes));
      }
    }
    table.add_bytes(number + frame_layout::kBucketsOffset, bucket_bytes_);
  }

  static uint64_t coded(const Maybe& value) { return value ? zigzag(*value) + 1 : 0; }
  static uint64_t coded(double value) { return __builtin_bswap64(std::bit_cast<uint64_t>(value)); }
  uint64_t coded(StringId id) { return strings_.of(index_of(id)); }
  uint64_t coded(ThreadId id) { return threads_.of(index_of(id)); }
  uint64_t coded(DetailId id) { return details_.of(index_of(id)); }
  uint64_t coded(FrameId id) { return frames_.of(index_of(id)); }
  uint64_t coded(StackId id) {
    // A parent's number must be smaller than its child's: number from the root down.
    size_t missing = index_of(id);
    path_.clear();
    while (missing != 0 && !stacks_.has(missing)) {
      path_.push_back(missing);
      missing = index_of(dictionary_->stacks[missing].parent);
    }
    for (auto node = path_.rbegin(); node != path_.rend(); ++node) stacks_.of(*node);
    return stacks_.of(index_of(id));
  }

  void add_dictionary() {
    std::string packed_bytes;
    protozero::pbf_writer out(packed_bytes);
    const auto add = [&](uint32_t number, size_t count, auto&& next) {
      const std::string_view packed = column_.pack(count, next);
      if (!packed.empty()) out.add_bytes(number, packed.data(), packed.size());
    };
    add_details(add);
    add_stacks(add);
    const auto thread = [&](size_t i) -> const ThreadKey& {
      return dictionary_->threads[threads_.used()[i]];
    };
    add(frame_layout::kThreadPids, threads_.used().size(),
        [&](size_t i) { return zigzag(thread(i).pid); });
    add(frame_layout::kThreadTids, threads_.used().size(),
        [&](size_t i) { return zigzag(thread(i).tid); });
    for (const uint32_t id : strings_.used()) {
      out.add_bytes(frame_layout::kStrings, dictionary_->strings[id].data(),
                    dictionary_->strings[id].size());
    }
    protozero::pbf_writer(dictionary_bytes_).add_message(frame_layout::kDictionary, packed_bytes);
  }

  template <class Add>
  void add_stacks(Add&& add) {
    const auto stack = [&](size_t i) -> const StackNode& {
      return dictionary_->stacks[stacks_.used()[i]];
    };
    const size_t count = stacks_.used().size();
    add(frame_layout::kStackParents, count,
        [&](size_t i) { return stacks_.of(index_of(stack(i).parent)); });
    add(frame_layout::kStackFrames, count, [&](size_t i) { return coded(stack(i).frame); });
    const auto frame = [&](size_t i) -> const Frame& {
      return dictionary_->frames[frames_.used()[i]];
    };
    const size_t frames = frames_.used().size();
    add(frame_layout::kFrameSymbols, frames, [&](size_t i) { return coded(frame(i).symbol); });
    add(frame_layout::kFrameModules, frames, [&](size_t i) { return coded(frame(i).module); });
    add(frame_layout::kFrameBuildIds, frames, [&](size_t i) { return coded(frame(i).build_id); });
    add(frame_layout::kFrameFiles, frames, [&](size_t i) { return coded(frame(i).file); });
    add(frame_layout::kFrameLines, frames, [&](size_t i) { return uint64_t{frame(i).line}; });
    add(frame_layout::kFrameKinds, frames,
        [&](size_t i) { return static_cast<uint64_t>(frame(i).kind); });
  }

  template <class Add>
  void add_details(Add&& add) {
    std::vector<const DetailItem*> items;
    for (const uint32_t id : details_.used()) {
      for (const DetailItem& item : dictionary_->items(static_cast<DetailId>(id)))
        items.push_back(&item);
    }
    add(frame_layout::kDetailLengths, details_.used().size(),
        [&](size_t i) { return uint64_t{dictionary_->details[details_.used()[i]].length}; });
    add(frame_layout::kDetailKeys, items.size(), [&](size_t i) { return coded(items[i]->key); });
    add(frame_layout::kDetailTypes, items.size(),
        [&](size_t i) { return uint64_t{items[i]->value.index()}; });
    add(frame_layout::kDetailValues, items.size(), [&](size_t i) {
      const DetailValue& value = items[i]->value;
      if (const auto* number = std::get_if<int64_t>(&value)) return zigzag(*number);
      if (const auto* real = std::get_if<double>(&value)) return coded(*real);
      return coded(std::get<StringId>(value));
    });
  }

  Result<std::string> compress(TableSet tables, uint32_t flags) {
    dictionary_bytes_ += tables_bytes_;
    const std::string& raw = dictionary_bytes_;
    if (raw.size() > kMaxRawBytes) return too_large();
    std::string frame(kFrameHeaderBytes + ZSTD_compressBound(raw.size()), '\0');
    const size_t size = ZSTD_compressCCtx(zstd_.get(), frame.data() + kFrameHeaderBytes,
                                          frame.size() - kFrameHeaderBytes, raw.data(), raw.size(),
                                          kCompressionLevel);
    CHECK(ZSTD_isError(size) == 0);
    if (size > kMaxPayloadBytes) return too_large();
    frame.resize(kFrameHeaderBytes + size);
    char* header = frame.data();
    put_u32(header, kFrameMagic);
    put_u32(header + 4, static_cast<uint32_t>(size));
    put_u32(header + 8, static_cast<uint32_t>(raw.size()));
    put_u32(header + 12, tables);
    put_u32(header + 16, flags);
    const uint32_t crc =
        crc32c(std::string_view(frame).substr(kFrameHeaderBytes), crc32c({header, 20}));
    put_u32(header + 20, crc);
    return frame;
  }

  const Dictionary* dictionary_ = nullptr;
  const Rows* rows_ = nullptr;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd_;
  LocalIds strings_, threads_, frames_, stacks_, details_;
  ColumnBuffer column_;
  std::vector<size_t> path_;
  std::string table_bytes_, tables_bytes_, dictionary_bytes_, bucket_bytes_;
};

FrameEncoder::FrameEncoder() : body_(std::make_unique<Body>()) {}
FrameEncoder::~FrameEncoder() = default;

Result<std::string> FrameEncoder::encode(const Dictionary& dictionary, const Rows& rows,
                                         uint32_t flags) {
  return body_->encode(dictionary, rows, flags);
}

}  // namespace fathom
