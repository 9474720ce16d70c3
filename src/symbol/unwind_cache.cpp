// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_cache.h"

#include <algorithm>

#include "symbol/cache_file.h"
#include "symbol/unwind_table_file.h"

namespace fathom {
namespace {

bool is_build_id(const std::string& key) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return key.size() >= 8 && key.size() <= 128 && std::all_of(key.begin(), key.end(), is_hex);
}

}  // namespace

Result<UnwindCache::Table> UnwindCache::get(const std::string& key, const Build& build) {
  if (!key.empty()) {
    const std::lock_guard lock(mutex_);
    if (const auto found = tables_.find(key); found != tables_.end()) {
      ++counts_.from_memory;
      return found->second;
    }
  }
  Result<Table> made = make(key, build);
  if (key.empty()) return made;
  const std::lock_guard lock(mutex_);
  return tables_.try_emplace(key, std::move(made)).first->second;
}

Result<UnwindCache::Table> UnwindCache::make(const std::string& key, const Build& build) {
  const std::string file = file_of(key);
  if (!file.empty()) {
    if (auto bytes = map_cache_file(folder_ + "/" + file); bytes.ok()) {
      if (auto table = decode_unwind_table(bytes.value()); table.ok()) {
        const std::lock_guard lock(mutex_);
        ++counts_.from_disk;
        return std::make_shared<const UnwindTable>(std::move(table).value());
      }
    }
  }
  Result<UnwindTable> built = build();
  {
    const std::lock_guard lock(mutex_);
    ++(built.ok() ? counts_.built : counts_.failed);
  }
  if (!built.ok()) return std::move(built).error();
  Table table = std::make_shared<const UnwindTable>(std::move(built).value());
  if (!file.empty()) store(file, *table);
  return table;
}

std::string UnwindCache::file_of(const std::string& key) const {
  if (folder_.empty() || !is_build_id(key)) return {};
  return key + ".unwind";
}

void UnwindCache::store(const std::string& file, const UnwindTable& table) {
  if (store_cache_file(folder_, file, encode_unwind_table(table)).ok()) return;
  const std::lock_guard lock(mutex_);
  ++counts_.not_stored;
}

void UnwindCache::drop_unused() {
  const std::lock_guard lock(mutex_);
  std::erase_if(tables_, [](const auto& entry) {
    return !entry.second.ok() || entry.second.value().use_count() == 1;
  });
}

UnwindCache::Counts UnwindCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

size_t UnwindCache::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const auto& [key, table] : tables_)
    if (table.ok()) sum += table.value()->memory_bytes();
  return sum;
}

}  // namespace fathom
