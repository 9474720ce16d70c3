// SPDX-License-Identifier: Apache-2.0
// Files that spare a later run some work: a mark of eight bytes, a version, a CRC-32C of all that
// follows, then what the owner of the mark put there. Written for our user alone and under a name
// of their own first, so that readers see a whole file or none. A file may be damaged, old or
// somebody else's: then there is an error and the work is done anew. Plain functions: any thread.
#pragma once

#include <cstdint>
#include <cstring>
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
// What follows the header. A file of another version is kNotFound.
Result<std::string_view> open_cache(const CacheKind& kind, std::string_view bytes);

// Only a file that belongs to us and that nobody else may write.
Result<std::string> read_cache_file(const std::string& path);
// Makes the folder, and those above it, where they are missing.
Status store_cache_file(const std::string& folder, const std::string& name, std::string_view bytes);

template <class T>
void append_raw(std::string& to, const std::vector<T>& values) {
  to.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// The caller has checked that they are there.
template <class T>
void take_raw(std::string_view& from, uint64_t count, std::vector<T>& values) {
  values.resize(count);
  if (count > 0) std::memcpy(values.data(), from.data(), count * sizeof(T));
  from.remove_prefix(count * sizeof(T));
}

}  // namespace fathom
