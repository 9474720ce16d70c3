// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <protozero/pbf_reader.hpp>

#include "base/crc32c.h"
#include "record/dictionary_decoder.h"
#include "record/frame.h"
#include "record/frame_layout.h"
#include "record/packed_column.h"

namespace fathom {
namespace {

uint32_t get_u32(std::string_view bytes, size_t offset) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value |= uint32_t{static_cast<unsigned char>(bytes[offset + i])} << (8 * i);
  }
  return value;
}

class Decoder {
 public:
  Decoder(Batch& batch, TableSet tables)
      : batch_(batch), dictionary_(batch.dictionary), tables_(tables) {}

  // What is wrong with the payload, or nullptr. Throws what protozero throws.
  const char* decode(protozero::data_view raw) {
    protozero::pbf_reader reader(raw);
    while (wrong_ == nullptr && reader.next()) {
      if (reader.tag() != frame_layout::kDictionary) {
        read_table(reader);
      } else if (std::exchange(has_dictionary_, true) || !holds_bytes(reader)) {
        malformed("a second dictionary, or none");
      } else {
        wrong_ = decode_dictionary(reader.get_message(), dictionary_);
      }
    }
    return wrong_;
  }

 private:
  static constexpr size_t kColumns = frame_layout::kBucketsOffset * 2;
  using Columns = std::array<PackedColumn, kColumns>;

  void malformed(const char* what) {
    if (wrong_ == nullptr) wrong_ = what;
  }

  void read_table(protozero::pbf_reader& reader) {
    bool known = false;
    for_each_table([&]<class Record>() {
      if (known || reader.tag() != frame_layout::table_field<Record>()) return;
      if ((tables_ & tables_of<Record>()) == 0) return;
      known = true;
      if (!holds_bytes(reader)) return malformed("a table of another type");
      read_rows<Record>(reader.get_message());
    });
    if (!known) reader.skip();
  }

  template <class Record>
  void read_rows(protozero::pbf_reader table) {
    std::vector<Record>& list = batch_.rows.of<Record>();
    if (!list.empty()) return malformed("a table stands twice");
    Columns columns;
    while (table.next()) {
      const uint32_t field = table.tag();
      if (field >= kColumns) {
        table.skip();
      } else if (field == frame_layout::kRowCount) {
        if (table.wire_type() != protozero::pbf_wire_type::varint) return malformed("no row count");
        const uint32_t rows = table.get_uint32();
        if (rows > kMaxRowsPerTable) return malformed("a table with too many rows");
        // Memory that is used again should do for the next frame, too.
        if (rows > list.capacity()) list.reserve(std::max<size_t>(rows, 2 * list.capacity()));
        list.resize(rows);
      } else {
        if (!holds_bytes(table)) return malformed("a column of another type");
        columns[field] = PackedColumn(table.get_view());
      }
    }
    for_each_field<Record>([&](const auto& field, uint32_t number) {
      static_assert(std::tuple_size_v<decltype(TableOf<Record>::kFields)> + 2 <=
                    frame_layout::kBucketsOffset);
      read_column(list, field, columns, number);
    });
  }

  template <class Record, class Member>
  void read_column(std::vector<Record>& list, const Field<Record, Member>& field,
                   const Columns& columns, uint32_t number) {
    const auto member = field.member;
    const PackedColumn& column = columns[number];
    if (column.empty()) {
      // A column of zeros, though a new record may start with something else.
      if (Record().*member != Member{}) {
        for (Record& record : list) record.*member = Member{};
      }
    } else if constexpr (std::is_same_v<Member, Histogram>) {
      read_histograms(list, member, column, columns[number + frame_layout::kBucketsOffset]);
    } else if constexpr (std::is_same_v<Member, int64_t>) {
      uint64_t before = 0;
      const uint64_t keep = field.coding == Coding::kDelta ? ~uint64_t{0} : 0;
      read(column, list.size(), [&](size_t i, uint64_t value) {
        before = (before & keep) + static_cast<uint64_t>(unzigzag(value));
        list[i].*member = static_cast<int64_t>(before);
      });
    } else {
      read(column, list.size(), [&](size_t i, uint64_t value) { decode(value, list[i].*member); });
    }
    if constexpr (std::is_same_v<Member, Maybe>) {
      if (field.base != nullptr && !column.empty()) add_base(list, member, field.base);
    }
  }

  template <class Take>
  void read(const PackedColumn& column, size_t rows, Take&& take) {
    if (!column.read(rows, take)) malformed(kColumnIsCut);
  }

  template <class Record>
  static void add_base(std::vector<Record>& list, Maybe Record::*member, Maybe Record::*base) {
    for (Record& record : list) {
      if (!(record.*member) || !(record.*base)) continue;
      const uint64_t sum =
          static_cast<uint64_t>(*(record.*member)) + static_cast<uint64_t>(*(record.*base));
      record.*member = static_cast<int64_t>(sum);
    }
  }

  template <class Record>
  void read_histograms(std::vector<Record>& list, Histogram Record::*member,
                       const PackedColumn& lengths, const PackedColumn& buckets) {
    auto& pool = batch_.rows.buckets;
    size_t offset = pool.size();
    const size_t count = buckets.count();
    if (count > kMaxBuckets) return malformed("histograms that are too long");
    pool.resize(offset + count);
    read(buckets, count,
         [&, start = offset](size_t i, uint64_t value) { pool[start + i] = unzigzag(value); });
    read(lengths, list.size(), [&](size_t i, uint64_t length) {
      if (length > pool.size() - offset) return malformed("a histogram longer than all histograms");
      list[i].*member = {static_cast<uint32_t>(offset), static_cast<uint32_t>(length)};
      offset += length;
    });
  }

  template <class Id>
  void decode_id(uint64_t value, size_t count, Id& out) {
    if (value >= count) return malformed("an id that is not in the dictionary");
    out = static_cast<Id>(value);
  }
  static void decode(uint64_t value, Maybe& out) {
    if (value != 0) out = unzigzag(value - 1);
  }
  static void decode(uint64_t value, double& out) { out = real_of(value); }
  void decode(uint64_t value, StringId& out) { decode_id(value, dictionary_.strings.size(), out); }
  void decode(uint64_t value, ThreadId& out) { decode_id(value, dictionary_.threads.size(), out); }
  void decode(uint64_t value, StackId& out) { decode_id(value, dictionary_.stacks.size(), out); }
  void decode(uint64_t value, DetailId& out) { decode_id(value, dictionary_.details.size(), out); }

  Batch& batch_;
  Dictionary& dictionary_;
  TableSet tables_;
  bool has_dictionary_ = false;
  const char* wrong_ = nullptr;
};

Error corrupt(std::string_view what) {
  return Error{Code::kCorrupt, "damaged frame: " + std::string(what)};
}

// A context is large: each thread keeps its own.
bool decompress(std::string_view payload, std::vector<char>& out) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  return ZSTD_decompressDCtx(context.get(), out.data(), out.size(), payload.data(),
                             payload.size()) == out.size();
}

}  // namespace

Result<FrameHeader> parse_frame_header(std::string_view bytes) {
  if (bytes.size() < kFrameHeaderBytes) return corrupt("the header is cut");
  if (get_u32(bytes, 0) != kFrameMagic) return corrupt("no frame starts here");
  const FrameHeader header{get_u32(bytes, 4), get_u32(bytes, 8), get_u32(bytes, 12),
                           get_u32(bytes, 16), get_u32(bytes, 20)};
  if (header.payload_bytes > kMaxPayloadBytes || header.raw_bytes > kMaxRawBytes) {
    return corrupt("impossible size");
  }
  return header;
}

Result<Batch> decode_frame(std::string_view frame, TableSet tables, Batch spare) {
  TRY_ASSIGN(const FrameHeader header, parse_frame_header(frame));
  if (frame.size() != kFrameHeaderBytes + header.payload_bytes) return corrupt("it is cut");
  const std::string_view payload = frame.substr(kFrameHeaderBytes);
  if (crc32c(payload, crc32c(frame.substr(0, 20))) != header.crc) {
    return corrupt("the checksum differs");
  }
  Batch batch = std::move(spare);
  batch.dictionary.clear();
  batch.rows.clear();
  batch.bytes.resize(header.raw_bytes);
  if (!decompress(payload, batch.bytes)) return corrupt("it does not decompress");
  try {
    const char* wrong = Decoder(batch, tables).decode({batch.bytes.data(), batch.bytes.size()});
    if (wrong != nullptr) return corrupt(wrong);
  } catch (const protozero::exception& error) {
    return corrupt(error.what());
  }
  return batch;
}

}  // namespace fathom
