// SPDX-License-Identifier: Apache-2.0
// What a frame's payload is put together from: ids numbered anew, values packed into columns,
// columns into protobuf messages. Kept from frame to frame so that nothing is allocated twice. One
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include <protozero/pbf_writer.hpp>

#include "record/varint.h"

namespace fathom {

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
  // next(i) is the value of row i. Returns the packed bytes; empty if every value is 0, unless
  // zeros are kept.
  template <class Next>
  std::string_view pack(size_t rows, Next&& next, bool keep_zeros = false) {
    if (bytes_.size() < rows * kMaxVarintBytes) bytes_.resize(rows * kMaxVarintBytes);
    char* at = bytes_.data();
    uint64_t any = 0;
    for (size_t i = 0; i < rows; ++i) {
      const uint64_t value = next(i);
      any |= value;
      at = put_varint(at, value);
    }
    if (any == 0 && !keep_zeros) return {};
    return {bytes_.data(), static_cast<size_t>(at - bytes_.data())};
  }

 private:
  std::vector<char> bytes_;
};

// A message of packed columns, and the places between columns that are worth code tables of their
// own.
class ColumnMessage {
 public:
  void clear() {
    bytes_.clear();
    cuts_.clear();
  }
  void add_number(uint32_t field, uint32_t value) {
    protozero::pbf_writer(bytes_).add_uint32(field, value);
  }
  void add_bytes(uint32_t field, std::string_view bytes) {
    protozero::pbf_writer(bytes_).add_bytes(field, bytes.data(), bytes.size());
  }
  void add_column(uint32_t field, std::string_view packed) {
    if (packed.empty()) return;
    if (packed.size() >= kOwnTableBytes) cut();
    add_bytes(field, packed);
    if (packed.size() >= kOwnTableBytes) cut();
  }
  void add_message(uint32_t field, const ColumnMessage& inner) {
    protozero::pbf_writer(bytes_).add_message(field, inner.bytes_);
    const size_t start = bytes_.size() - inner.bytes_.size();
    for (const size_t cut : inner.cuts_) cuts_.push_back(start + cut);
  }
  void append(const ColumnMessage& other) {
    for (const size_t cut : other.cuts_) cuts_.push_back(bytes_.size() + cut);
    bytes_ += other.bytes_;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<size_t>& cuts() const { return cuts_; }

 private:
  static constexpr size_t kOwnTableBytes = 1024;
  void cut() {
    if (cuts_.empty() || cuts_.back() != bytes_.size()) cuts_.push_back(bytes_.size());
  }

  std::string bytes_;
  std::vector<size_t> cuts_;
};

}  // namespace fathom
