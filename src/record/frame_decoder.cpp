// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <array>
#include <bit>
#include <protozero/pbf_reader.hpp>

#include "base/crc32c.h"
#include "record/frame.h"
#include "record/frame_layout.h"
#include "record/varint.h"

namespace fathom {
namespace {

uint32_t get_u32(std::string_view bytes, size_t offset) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= uint32_t{static_cast<unsigned char>(bytes[offset + i])} << (8 * i);
  return value;
}

class Decoder {
 public:
  Decoder(Batch& batch, TableSet tables) : batch_(batch), dictionary_(batch.dictionary), tables_(tables) {}

  // What is wrong with the payload, or nullptr.
  const char* decode(std::string_view raw) {
    protozero::pbf_reader reader(raw.data(), raw.size());
    while (wrong_ == nullptr && reader.next()) {
      if (reader.tag() != frame_layout::kDictionary) {
        read_table(reader);
      } else if (dictionary_.strings.size() > 1) {
        malformed("a second dictionary");
      } else {
        read_dictionary(reader.get_message());
      }
    }
    return wrong_;
  }

 private:
  void malformed(const char* what) {
    if (wrong_ == nullptr) wrong_ = what;
  }

  // Calls take(i, value) for each varint of a packed column, at most `limit` of them; returns how many.
  template <class Take>
  size_t unpack(protozero::data_view packed, size_t limit, Take&& take) {
    const char* at = packed.data();
    const char* end = at + packed.size();
    size_t count = 0;
    while (at < end) {
      uint64_t value = 0;
      at = get_varint(at, end, &value);
      if (at == nullptr || count == limit) {
        malformed("a column is cut or too long");
        break;
      }
      take(count++, value);
    }
    return count;
  }

  // A column of exactly `rows` values.
  template <class Take>
  void unpack_exactly(protozero::data_view packed, size_t rows, Take&& take) {
    if (unpack(packed, rows, take) != rows) malformed("a column has fewer rows than its table");
  }

  template <class Id>
  Id checked(uint64_t value, size_t count) {
    if (value < count) return static_cast<Id>(value);
    malformed("an id that is not in the dictionary");
    return Id::kNone;
  }
  StringId string(uint64_t value) { return checked<StringId>(value, dictionary_.strings.size()); }

  void read_dictionary(protozero::pbf_reader reader) {
    // Every list's columns are kept and read once the lists they refer to are complete.
    std::array<protozero::data_view, frame_layout::kDetailValues + 1> column{};
    while (reader.next()) {
      if (reader.tag() == frame_layout::kStrings) {
        if (dictionary_.strings.size() > kMaxListLength) return malformed("too many strings");
        const protozero::data_view text = reader.get_view();
        dictionary_.strings.emplace_back(text.data(), text.size());
      } else if (reader.tag() < column.size()) {
        protozero::data_view& place = column[reader.tag()];  // before get_view(), which forgets the tag
        place = reader.get_view();
      } else {
        reader.skip();
      }
    }
    read_threads(column[frame_layout::kThreadPids], column[frame_layout::kThreadTids]);
    read_frames(column);
    read_stacks(column[frame_layout::kStackParents], column[frame_layout::kStackFrames]);
    read_details(column);
  }

  // How many elements a list has: as many as its longest column, since a column of zeros is left out.
  template <size_t N>
  size_t list_length(const std::array<protozero::data_view, N>& columns) {
    size_t length = 0;
    for (const protozero::data_view packed : columns) {
      length = std::max(length, unpack(packed, kMaxListLength, [](size_t, uint64_t) {}));
    }
    return length;
  }

  void read_threads(protozero::data_view pids, protozero::data_view tids) {
    dictionary_.threads.resize(1 + list_length(std::array{pids, tids}));
    auto& threads = dictionary_.threads;
    const size_t count = threads.size() - 1;
    unpack(pids, count, [&](size_t i, uint64_t value) { threads[i + 1].pid = unzigzag(value); });
    unpack(tids, count, [&](size_t i, uint64_t value) { threads[i + 1].tid = unzigzag(value); });
  }

  template <class Columns>
  void read_frames(const Columns& column) {
    using namespace frame_layout;
    auto& frames = dictionary_.frames;
    const size_t count = list_length(std::array{column[kFrameSymbols], column[kFrameModules], column[kFrameBuildIds],
                                                column[kFrameFiles], column[kFrameLines], column[kFrameKinds]});
    frames.resize(1 + count);
    unpack(column[kFrameSymbols], count, [&](size_t i, uint64_t v) { frames[i + 1].symbol = string(v); });
    unpack(column[kFrameModules], count, [&](size_t i, uint64_t v) { frames[i + 1].module = string(v); });
    unpack(column[kFrameBuildIds], count, [&](size_t i, uint64_t v) { frames[i + 1].build_id = string(v); });
    unpack(column[kFrameFiles], count, [&](size_t i, uint64_t v) { frames[i + 1].file = string(v); });
    unpack(column[kFrameLines], count, [&](size_t i, uint64_t v) { frames[i + 1].line = static_cast<uint32_t>(v); });
    unpack(column[kFrameKinds], count, [&](size_t i, uint64_t v) {
      frames[i + 1].kind = v <= static_cast<uint64_t>(kLastFrameKind) ? static_cast<FrameKind>(v) : FrameKind::kUnknown;
    });
  }

  void read_stacks(protozero::data_view parents, protozero::data_view frames) {
    auto& stacks = dictionary_.stacks;
    stacks.resize(1 + list_length(std::array{parents, frames}));
    unpack(parents, stacks.size() - 1, [&](size_t i, uint64_t value) {
      if (value > i) return malformed("a stack stands before its parent");
      stacks[i + 1].parent = static_cast<StackId>(value);
    });
    unpack(frames, stacks.size() - 1, [&](size_t i, uint64_t value) {
      stacks[i + 1].frame = checked<FrameId>(value, dictionary_.frames.size());
    });
  }

  template <class Columns>
  void read_details(const Columns& column) {
    using namespace frame_layout;
    auto& items = dictionary_.detail_items;
    const size_t count = list_length(std::array{column[kDetailKeys], column[kDetailTypes], column[kDetailValues]});
    items.resize(count);
    std::vector<uint64_t> values(count);
    unpack(column[kDetailKeys], count, [&](size_t i, uint64_t value) { items[i].key = string(value); });
    unpack(column[kDetailValues], count, [&](size_t i, uint64_t value) { values[i] = value; });
    std::vector<uint64_t> types(count);
    unpack(column[kDetailTypes], count, [&](size_t i, uint64_t value) { types[i] = value; });
    for (size_t i = 0; i < count; ++i) {
      if (types[i] == 0) items[i].value = unzigzag(values[i]);
      if (types[i] == 1) items[i].value = real(values[i]);
      if (types[i] == 2) items[i].value = string(values[i]);
    }
    size_t offset = 0;
    unpack(column[kDetailLengths], count, [&](size_t, uint64_t length) {
      if (length > count - offset) return malformed("a detail longer than all details");
      dictionary_.details.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(length)});
      offset += length;
    });
  }

  static double real(uint64_t value) { return std::bit_cast<double>(__builtin_bswap64(value)); }

  void read_table(protozero::pbf_reader& reader) {
    bool known = false;
    for_each_table([&]<class Record>() {
      constexpr auto kNumber = static_cast<uint32_t>(table_number<Record>());
      if (reader.tag() != frame_layout::kFirstTable + kNumber) return;
      if ((tables_ & tables_of<Record>()) == 0 || known) return;
      known = true;
      read_rows<Record>(reader.get_message());
    });
    if (!known) reader.skip();
  }

  template <class Record>
  void read_rows(protozero::pbf_reader table) {
    std::vector<Record>& list = batch_.rows.of<Record>();
    if (!list.empty()) return malformed("a table stands twice");
    std::array<protozero::data_view, frame_layout::kBucketsOffset * 2> column{};
    while (table.next()) {
      if (table.tag() == frame_layout::kRowCount) {
        const uint32_t rows = table.get_uint32();
        if (rows > kMaxRowsPerTable) return malformed("a table with too many rows");
        list.resize(rows);
      } else if (table.tag() < column.size()) {
        protozero::data_view& place = column[table.tag()];
        place = table.get_view();
      } else {
        table.skip();
      }
    }
    for_each_field<Record>([&](const auto& field, uint32_t number) {
      if (column[number].empty()) return;
      read_column(list, field, column[number], column[number + frame_layout::kBucketsOffset]);
    });
  }

  template <class Record, class Member>
  void read_column(std::vector<Record>& list, const Field<Record, Member>& field, protozero::data_view packed,
                   protozero::data_view buckets) {
    const auto member = field.member;
    if constexpr (std::is_same_v<Member, Histogram>) {
      read_histograms(list, member, packed, buckets);
    } else if constexpr (std::is_same_v<Member, int64_t>) {
      const bool delta = field.coding == Coding::kDelta;
      uint64_t before = 0;
      unpack_exactly(packed, list.size(), [&](size_t i, uint64_t value) {
        const auto plain = static_cast<uint64_t>(unzigzag(value));
        before = delta ? before + plain : plain;
        list[i].*member = static_cast<int64_t>(before);
      });
    } else {
      unpack_exactly(packed, list.size(), [&](size_t i, uint64_t value) { decode_value(value, list[i].*member); });
    }
  }

  template <class Record>
  void read_histograms(std::vector<Record>& list, Histogram Record::*member, protozero::data_view lengths,
                       protozero::data_view buckets) {
    auto& pool = batch_.rows.buckets;
    const size_t start = pool.size();
    unpack(buckets, kMaxRawBytes, [&](size_t, uint64_t value) { pool.push_back(unzigzag(value)); });
    size_t offset = start;
    unpack_exactly(lengths, list.size(), [&](size_t i, uint64_t length) {
      if (length > pool.size() - offset) return malformed("a histogram longer than all histograms");
      list[i].*member = {static_cast<uint32_t>(offset), static_cast<uint32_t>(length)};
      offset += length;
    });
  }

  static void decode_value(uint64_t value, Maybe& out) {
    if (value != 0) out = unzigzag(value - 1);
  }
  static void decode_value(uint64_t value, double& out) { out = real(value); }
  void decode_value(uint64_t value, StringId& out) { out = string(value); }
  void decode_value(uint64_t value, ThreadId& out) { out = checked<ThreadId>(value, dictionary_.threads.size()); }
  void decode_value(uint64_t value, StackId& out) { out = checked<StackId>(value, dictionary_.stacks.size()); }
  void decode_value(uint64_t value, DetailId& out) { out = checked<DetailId>(value, dictionary_.details.size()); }

  Batch& batch_;
  Dictionary& dictionary_;
  TableSet tables_;
  const char* wrong_ = nullptr;
};

Error corrupt(std::string_view what) { return Error{Code::kCorrupt, "damaged frame: " + std::string(what)}; }

}  // namespace

Result<FrameHeader> parse_frame_header(std::string_view bytes) {
  if (bytes.size() < kFrameHeaderBytes) return corrupt("the header is cut");
  if (get_u32(bytes, 0) != kFrameMagic) return corrupt("no frame starts here");
  const FrameHeader header{get_u32(bytes, 4), get_u32(bytes, 8), get_u32(bytes, 12), get_u32(bytes, 16),
                           get_u32(bytes, 20)};
  if (header.payload_bytes > kMaxPayloadBytes || header.raw_bytes > kMaxRawBytes) return corrupt("impossible size");
  return header;
}

Result<Batch> decode_frame(std::string_view frame, TableSet tables) {
  TRY_ASSIGN(const FrameHeader header, parse_frame_header(frame));
  if (frame.size() != kFrameHeaderBytes + header.payload_bytes) return corrupt("it is cut");
  const std::string_view payload = frame.substr(kFrameHeaderBytes);
  if (crc32c(payload, crc32c(frame.substr(0, 20))) != header.crc) return corrupt("the checksum differs");
  Batch batch;
  batch.bytes.resize(header.raw_bytes);
  const size_t raw_bytes = ZSTD_decompress(batch.bytes.data(), batch.bytes.size(), payload.data(), payload.size());
  if (ZSTD_isError(raw_bytes) != 0 || raw_bytes != header.raw_bytes) return corrupt("it does not decompress");
  try {
    const char* wrong = Decoder(batch, tables).decode({batch.bytes.data(), batch.bytes.size()});
    if (wrong != nullptr) return corrupt(wrong);
  } catch (const protozero::exception& error) {
    return corrupt(error.what());
  }
  return batch;
}

}  // namespace fathom
