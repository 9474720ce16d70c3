// SPDX-License-Identifier: Apache-2.0
// Names as people wrote them: C++ (Itanium ABI), Rust (legacy and v0), by GNU libiberty. Input is
// hostile: a name of a few bytes can stand for gigabytes, so output stops at kMaxDemangledBytes,
// and names above kMaxMangledBytes stay as they are, because the demangler recurses once a byte or
// so. Pure function: any thread. Demangler remembers (1-3 us a name) and belongs to one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fathom {

constexpr size_t kMaxMangledBytes = 4000;
constexpr size_t kMaxDemangledBytes = 8192;

// The name as written in the source, or the same text when it is not mangled or cannot be read.
// "@plt" at the end is kept. A name that grew too long ends with "…".
std::string demangle(std::string_view name);

class Demangler {
 public:
  // Valid until the next call.
  std::string_view operator()(std::string_view name);
  [[nodiscard]] size_t size() const { return known_.size(); }

 private:
  static constexpr size_t kMaxKnown = 32768;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> known_;
};

}  // namespace fathom
