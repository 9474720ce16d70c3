// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_table_file.h"

#include <cstring>

#include "symbol/cache_file.h"

namespace fathom {
namespace {

constexpr CacheKind kTableKind = {"FTHUNWT\n", kUnwindFileVersion};

struct TableFileHeader {
  uint64_t base;
  uint64_t rows;
  uint64_t rules;
  uint64_t functions;
  uint64_t buckets;
  UnwindTableCounts counts;
};
static_assert(sizeof(TableFileHeader) == 40 + sizeof(UnwindTableCounts));

bool fills(const TableFileHeader& header, uint64_t bytes) {
  constexpr uint64_t kRowBytes = sizeof(uint32_t) + sizeof(uint16_t);
  if (header.rows > bytes / kRowBytes || header.rules > bytes / sizeof(UnwindRule) ||
      header.functions > bytes / sizeof(uint32_t) || header.buckets > bytes / sizeof(uint32_t))
    return false;
  return header.rows * kRowBytes + header.rules * sizeof(UnwindRule) +
             (header.functions + header.buckets) * sizeof(uint32_t) ==
         bytes;
}

Error corrupt_table_file(std::string_view what) {
  return Error{Code::kCorrupt, "unwind table file: " + std::string(what)};
}

}  // namespace

std::string encode_unwind_table(const UnwindTable& table) {
  const UnwindTable::View& rows = table.rows();
  TableFileHeader header = {};
  header.base = rows.base;
  header.rows = rows.starts.size();
  header.rules = rows.rules.size();
  header.functions = rows.functions.size();
  header.buckets = rows.index.size();
  header.counts = rows.counts;
  std::string bytes = begin_cache(kTableKind);
  bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
  append_raw(bytes, rows.starts);
  append_raw(bytes, rows.functions);
  append_raw(bytes, rows.index);
  append_raw(bytes, rows.rules);
  append_raw(bytes, rows.rule_ids);
  seal_cache(bytes);
  return bytes;
}

Result<UnwindTable> decode_unwind_table(const CacheBytes& file) {
  auto opened = open_cache(kTableKind, file.bytes);
  if (!opened.ok()) return std::move(opened).error().within("unwind table file");
  std::string_view bytes = opened.value();
  TableFileHeader header;
  if (bytes.size() < sizeof header) return corrupt_table_file("cut");
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (!fills(header, bytes.size())) return corrupt_table_file("of another size than it says");
  UnwindTable::View rows;
  rows.base = header.base;
  rows.counts = header.counts;
  rows.starts = take_raw<uint32_t>(bytes, header.rows);
  rows.functions = take_raw<uint32_t>(bytes, header.functions);
  rows.index = take_raw<uint32_t>(bytes, header.buckets);
  rows.rules = take_raw<UnwindRule>(bytes, header.rules);
  rows.rule_ids = take_raw<uint16_t>(bytes, header.rows);
  if (!UnwindTable::is_sound(rows)) return corrupt_table_file("rows out of order");
  return UnwindTable(rows, file.keeper);
}

}  // namespace fathom
