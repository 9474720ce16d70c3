// SPDX-License-Identifier: Apache-2.0
// Many short texts in few blocks; each is named by a number and stays where it is. Used for names
// of compiled code, of which there may be hundreds of thousands. Belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

class NamePool {
 public:
  // 0 when the pool is full.
  uint32_t add(std::string_view text, size_t most_bytes) {
    if (bytes_.size() + text.size() > most_bytes) return 0;
    bytes_ += text;
    ends_.push_back(static_cast<uint32_t>(bytes_.size()));
    return static_cast<uint32_t>(ends_.size() - 1);
  }
  // A view until the next add.
  [[nodiscard]] std::string_view at(uint32_t id) const {
    return std::string_view(bytes_).substr(ends_[id - 1], ends_[id] - ends_[id - 1]);
  }
  void clear() {
    bytes_.clear();
    ends_ = {0};
  }
  [[nodiscard]] size_t memory_bytes() const {
    return bytes_.capacity() + ends_.capacity() * sizeof(uint32_t);
  }

 private:
  std::string bytes_;
  std::vector<uint32_t> ends_{0};  // number n is [ends_[n - 1], ends_[n])
};

}  // namespace fathom
