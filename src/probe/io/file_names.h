// SPDX-License-Identifier: Apache-2.0
// Names of the files that the kernel half numbered. Belongs to the recorder's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace fathom {

// The name that a WireName record with its text spells; empty: it makes no sense.
std::string file_name_of(std::span<const std::byte> record);

class FileNames {
 public:
  // Of so many; the oldest are forgotten then.
  static constexpr size_t kMostNames = size_t{1} << 20;

  void add(std::span<const std::byte> record);
  // nullptr: not told yet, or forgotten.
  [[nodiscard]] const std::string* find(uint32_t file) const;
  [[nodiscard]] size_t size() const { return names_.size(); }

 private:
  std::map<uint32_t, std::string> names_;
};

}  // namespace fathom
