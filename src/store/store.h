// SPDX-License-Identifier: Apache-2.0
// Where a hub keeps jobs and accumulated sums: one interface, several engines, one contract test
// suite. The engines come with the hub; this is their table, so that adding one is one line.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "record/batch.h"

namespace fathom {

// Exactly once: a batch carries (run, sequence), and the sums and the sequence change in one
// transaction.
class Store {
 public:
  virtual ~Store() = default;
  // Adds the node sums and rows of `batch` to `job`. A sequence that was applied before changes
  // nothing; one that leaves a gap is kInvalid.
  virtual Status apply(int64_t job, const std::string& run, uint64_t sequence,
                       const Batch& batch) = 0;
};

struct StoreInfo {
  const char* scheme;  // of the address that names it, as "sqlite" or "redis"
  const char* summary;
  Result<std::unique_ptr<Store>> (*open)(const std::string& address);
};

// The table of stores: one line each in all_stores.cpp.
std::span<const StoreInfo> all_stores();

}  // namespace fathom
