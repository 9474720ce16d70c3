// SPDX-License-Identifier: Apache-2.0
// Writes small .eh_frame and .debug_frame sections for tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "symbol/cfi_reader.h"

namespace fathom {

using Bytes = std::vector<uint8_t>;

inline void put(Bytes& to, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) to.push_back(static_cast<uint8_t>(value >> (8 * i)));
}
inline void put(Bytes& to, const Bytes& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

// A section with absolute 8-byte addresses, unless the augmentation says otherwise.
class CfiWriter {
 public:
  explicit CfiWriter(bool is_debug_frame = false) : is_debug_frame_(is_debug_frame) {}

  // Data and code factors -8 and 1, return address in column 16.
  size_t cie(const std::string& augmentation, const Bytes& augmentation_data,
             const Bytes& program) {
    Bytes body;
    put(body, is_debug_frame_ ? 0xffffffff : 0, 4);
    put(body, 1, 1);
    body.insert(body.end(), augmentation.begin(), augmentation.end());
    put(body, {0, 1, 0x78, 16});
    if (!augmentation.empty()) {
      put(body, augmentation_data.size(), 1);
      put(body, augmentation_data);
    }
    put(body, program);
    return entry(body);
  }
  // The usual one: CFA is rsp + 8, the return address below it.
  size_t usual_cie() { return cie("", {}, {0x0c, 7, 8, 0x90, 1}); }

  void fde(size_t cie, uint64_t start, uint64_t size, const Bytes& program,
           const Bytes& augmentation = {}) {
    Bytes body;
    put(body, is_debug_frame_ ? cie : bytes_.size() + 4 - cie, 4);
    put(body, start, 8);
    put(body, size, 8);
    put(body, augmentation);
    put(body, program);
    entry(body);
  }

  size_t entry(const Bytes& body) {
    const size_t offset = bytes_.size();
    put(bytes_, body.size(), 4);
    put(bytes_, body);
    return offset;
  }
  Bytes& bytes() { return bytes_; }
  [[nodiscard]] CfiSection section(uint64_t address = 0) const {
    return {bytes_, address, is_debug_frame_, false};
  }

 private:
  bool is_debug_frame_;
  Bytes bytes_;
};

}  // namespace fathom
