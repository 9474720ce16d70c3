// SPDX-License-Identifier: Apache-2.0
// A packed column of varints as it stands in a payload, which may be hostile. Any thread.
#pragma once

#include <algorithm>
#include <bit>
#include <protozero/pbf_reader.hpp>

#include "record/varint.h"

namespace fathom {

constexpr const char* kColumnIsCut = "a column is cut or too long";

class PackedColumn {
 public:
  PackedColumn() = default;
  explicit PackedColumn(protozero::data_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  // How many values it holds: bytes that end one.
  [[nodiscard]] size_t count() const {
    const char* start = bytes_.data();
    return static_cast<size_t>(
        std::count_if(start, start + bytes_.size(), [](char byte) { return byte >= 0; }));
  }
  // Calls take(i, value) for each value; false if there are not `count` of them.
  template <class Take>
  [[nodiscard]] bool read(size_t count, Take&& take) const {
    const char* at = bytes_.data();
    const char* end = at + bytes_.size();
    for (size_t i = 0; i < count; ++i) {
      uint64_t value = 0;
      at = get_varint(at, end, &value);
      if (at == nullptr) return false;
      take(i, value);
    }
    return at == end;
  }

 private:
  protozero::data_view bytes_;
};

// Whether the field that `reader` stands at holds bytes: a message, a string or a column.
inline bool holds_bytes(const protozero::pbf_reader& reader) {
  return reader.wire_type() == protozero::pbf_wire_type::length_delimited;
}

inline double real_of(uint64_t value) { return std::bit_cast<double>(__builtin_bswap64(value)); }

}  // namespace fathom
