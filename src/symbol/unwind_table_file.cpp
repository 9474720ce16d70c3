// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_table_file.h"

#include <cstring>

#include "symbol/cache_file.h"

namespace fathom {
namespace {

constexpr CacheKind kKind = {"FTHUNWT\n", kUnwindFileVersion};

struct Header {
  uint64_t base;
  uint64_t rows;
  uint64_t rules;
  uint64_t functions;
  UnwindTableCounts counts;
};
static_assert(sizeof(Header) == 32 + sizeof(UnwindTableCounts));

Error corrupt(std::string_view what) {
  return Error{Code::kCorrupt, "unwind table file: " + std::string(what)};
}

}  // namespace

std::string encode_unwind_table(const UnwindTable& table) {
  const UnwindTable::Rows& rows = table.rows();
  Header header = {};
  header.base = rows.base;
  header.rows = rows.starts.size();
  header.rules = rows.rules.size();
  header.functions = rows.functions.size();
  header.counts = rows.counts;
  std::string bytes = begin_cache(kKind);
  bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
  append_raw(bytes, rows.starts);
  append_raw(bytes, rows.rule_ids);
  append_raw(bytes, rows.rules);
  append_raw(bytes, rows.functions);
  seal_cache(bytes);
  return bytes;
}

Result<UnwindTable> decode_unwind_table(std::string_view file) {
  auto opened = open_cache(kKind, file);
  if (!opened.ok()) return std::move(opened).error().within("unwind table file");
  std::string_view bytes = opened.value();
  Header header;
  if (bytes.size() < sizeof header) return corrupt("cut");
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  constexpr uint64_t kRowBytes = sizeof(uint32_t) + sizeof(uint16_t);
  if (header.rows > bytes.size() / kRowBytes || header.rules > bytes.size() / sizeof(UnwindRule) ||
      header.functions > bytes.size() / sizeof(uint32_t) ||
      header.rows * kRowBytes + header.rules * sizeof(UnwindRule) +
              header.functions * sizeof(uint32_t) !=
          bytes.size())
    return corrupt("of another size than it says");
  UnwindTable::Rows rows;
  rows.base = header.base;
  rows.counts = header.counts;
  take_raw(bytes, header.rows, rows.starts);
  take_raw(bytes, header.rows, rows.rule_ids);
  take_raw(bytes, header.rules, rows.rules);
  take_raw(bytes, header.functions, rows.functions);
  if (!UnwindTable::is_sound(rows)) return corrupt("rows out of order");
  return UnwindTable(std::move(rows));
}

}  // namespace fathom
