// SPDX-License-Identifier: Apache-2.0
// Files that spare a later run some work: a mark of eight bytes, a version, a CRC-32C of all that
// follows, then what the owner of the mark put there. Written for our user alone and under a name
// of their own first, so that readers see a whole file or none. A file may be damaged, old or
// somebody else's: then there is an error and the work is done anew. Plain functions: any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

struct CacheKind {
  char mark[9];  // and NUL
  uint32_t version;
};
constexpr size_t kCacheHeaderBytes = 16;

// The header, to append to; the CRC is set by seal_cache.
std::string begin_cache(const CacheKind& kind);
void seal_cache(std::string& bytes);

// A whole file and what keeps its bytes in place; copies share them.
struct CacheBytes {
  std::string_view bytes;
  std::shared_ptr<const void> keeper;

  CacheBytes() = default;
  CacheBytes(std::string_view file, std::shared_ptr<const void> kept_by)
      : bytes(file), keeper(std::move(kept_by)) {}
  CacheBytes(std::string file) {  // NOLINT(google-explicit-constructor): a file in memory
    auto held = std::make_shared<const std::string>(std::move(file));
    bytes = *held;
    keeper = std::move(held);
  }
};

// What follows the header. A file of another version is kNotFound.
Result<std::string_view> open_cache(const CacheKind& kind, std::string_view bytes);

// Only a file that belongs to us and that nobody else may write. It is mapped, not read: copies of
// it would cost more than all else about it. That is safe because files are put in place whole and
// never changed there.
Result<CacheBytes> map_cache_file(const std::string& path);
// Makes the folder, and those above it, where they are missing.
Status store_cache_file(const std::string& folder, const std::string& name, std::string_view bytes);

template <class T>
void append_raw(std::string& to, std::span<const T> values) {
  to.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// The values where they lie. The caller has checked that they are there, and has ordered what is in
// the file so that each kind stands where its alignment wants it.
template <class T>
std::span<const T> take_raw(std::string_view& from, uint64_t count) {
  const std::span values(reinterpret_cast<const T*>(from.data()), count);
  from.remove_prefix(count * sizeof(T));
  return values;
}

}  // namespace fathom
