// SPDX-License-Identifier: Apache-2.0
// Unwind tables by build id: each module is read once, however many processes map it. On request
// tables are also kept as files in a folder (off unless a folder is given), checked when read. Any
// thread; two that ask for the same new table at once may both build it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "symbol/unwind_table.h"

namespace fathom {

class UnwindCache {
 public:
  using Table = std::shared_ptr<const UnwindTable>;
  using Build = std::function<Result<UnwindTable>()>;

  explicit UnwindCache(std::string folder = {}) : folder_(std::move(folder)) {}

  // `key` is a build id in hexadecimal; any other text works too but is not kept on disk, and an
  // empty one is not kept at all. An error is `build`'s, remembered: it is not asked again.
  Result<Table> get(const std::string& key, const Build& build);

  // Forgets tables that nobody else holds, and failures.
  void drop_unused();

  struct Counts {
    uint64_t built = 0, from_memory = 0, from_disk = 0, failed = 0, not_stored = 0;
  };
  [[nodiscard]] Counts counts() const;
  [[nodiscard]] size_t memory_bytes() const;

 private:
  Result<Table> make(const std::string& key, const Build& build);
  [[nodiscard]] std::string file_of(const std::string& key) const;
  void store(const std::string& file, const UnwindTable& table);

  const std::string folder_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Result<Table>> tables_;
  Counts counts_;
};

}  // namespace fathom
