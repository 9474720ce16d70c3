// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_table_file.h"

#include <cstring>

#include "base/crc32c.h"

namespace fathom {
namespace {

constexpr char kMark[8] = {'F', 'T', 'H', 'U', 'N', 'W', 'T', '\n'};

struct Header {
  char mark[8];
  uint32_t version;
  uint32_t crc;  // of what follows this field
  uint64_t base;
  uint64_t rows;
  uint64_t rules;
  UnwindTableCounts counts;
};
constexpr size_t kCrcFrom = offsetof(Header, base);
static_assert(sizeof(Header) == 40 + sizeof(UnwindTableCounts));

template <class T>
void append(std::string& to, const std::vector<T>& values) {
  to.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <class T>
void take(std::string_view& from, uint64_t count, std::vector<T>& values) {
  values.resize(count);
  if (count > 0) std::memcpy(values.data(), from.data(), count * sizeof(T));
  from.remove_prefix(count * sizeof(T));
}

Error corrupt(std::string_view what) {
  return Error{Code::kCorrupt, "unwind table file: " + std::string(what)};
}

}  // namespace

std::string encode_unwind_table(const UnwindTable& table) {
  const UnwindTable::Rows& rows = table.rows();
  Header header = {};
  std::memcpy(header.mark, kMark, sizeof kMark);
  header.version = kUnwindFileVersion;
  header.base = rows.base;
  header.rows = rows.starts.size();
  header.rules = rows.rules.size();
  header.counts = rows.counts;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  append(bytes, rows.starts);
  append(bytes, rows.rule_ids);
  append(bytes, rows.rules);
  const uint32_t crc = crc32c(std::string_view(bytes).substr(kCrcFrom));
  std::memcpy(bytes.data() + offsetof(Header, crc), &crc, sizeof crc);
  return bytes;
}

Result<UnwindTable> decode_unwind_table(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return corrupt("cut");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.mark, kMark, sizeof kMark) != 0) return corrupt("not one");
  if (header.version != kUnwindFileVersion)
    return Error{Code::kNotFound, "unwind table file of another version"};
  if (crc32c(bytes.substr(kCrcFrom)) != header.crc) return corrupt("damaged");
  bytes.remove_prefix(sizeof header);
  constexpr uint64_t kRowBytes = sizeof(uint32_t) + sizeof(uint16_t);
  if (header.rows > bytes.size() / kRowBytes || header.rules > bytes.size() / sizeof(UnwindRule) ||
      header.rows * kRowBytes + header.rules * sizeof(UnwindRule) != bytes.size())
    return corrupt("of another size than it says");
  UnwindTable::Rows rows;
  rows.base = header.base;
  rows.counts = header.counts;
  take(bytes, header.rows, rows.starts);
  take(bytes, header.rows, rows.rule_ids);
  take(bytes, header.rules, rows.rules);
  if (!UnwindTable::is_sound(rows)) return corrupt("rows out of order");
  return UnwindTable(std::move(rows));
}

}  // namespace fathom
