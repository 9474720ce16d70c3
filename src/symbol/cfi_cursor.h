// SPDX-License-Identifier: Apache-2.0
// Reads the little-endian numbers of DWARF out of bytes that nobody has checked. A read past the
// end gives 0 and makes the cursor bad for good, so that callers check once after a group of reads.
// Does not own its bytes; one thread each.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace fathom {

using ByteSpan = std::span<const uint8_t>;

class CfiCursor {
 public:
  explicit CfiCursor(ByteSpan bytes) : at_(bytes.data()), end_(at_ + bytes.size()), from_(at_) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool done() const { return at_ == end_; }
  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - at_); }
  [[nodiscard]] size_t offset() const { return static_cast<size_t>(at_ - from_); }

  template <class T>
  T number() {
    static_assert(std::endian::native == std::endian::little);
    T value = 0;
    if (left() < sizeof value) {
      fail();
      return 0;
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint8_t u8() {
    if (at_ == end_) return fail();
    return *at_++;
  }

  // Bits beyond 64 are dropped.
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = u8();
      if (shift < 64) value |= uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  int64_t sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = u8();
      if (shift < 64) value |= uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) != 0) continue;
      if (shift + 7 < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
  }

  ByteSpan take(uint64_t size) {
    if (size > left()) {
      fail();
      return {};
    }
    const ByteSpan bytes(at_, static_cast<size_t>(size));
    at_ += size;
    return bytes;
  }
  std::string_view text() {
    const void* zero = at_ == end_ ? nullptr : std::memchr(at_, 0, left());
    if (zero == nullptr) {
      fail();
      return {};
    }
    const auto* start = reinterpret_cast<const char*>(at_);
    const auto size = static_cast<size_t>(static_cast<const uint8_t*>(zero) - at_);
    at_ += size + 1;
    return {start, size};
  }

 private:
  uint8_t fail() {
    ok_ = false;
    at_ = end_;
    return 0;
  }

  const uint8_t* at_;
  const uint8_t* end_;
  const uint8_t* from_;
  bool ok_ = true;
};

}  // namespace fathom
