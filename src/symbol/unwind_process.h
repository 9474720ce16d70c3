// SPDX-License-Identifier: Apache-2.0
// One process at one time, as the unwinder asks for it: the address spaces say which module an
// address lies in, the cache has its table. Aim it at a process and a time, unwind, aim it again.
// Belongs to the thread of the address spaces.
#pragma once

#include <memory>
#include <unordered_map>

#include "symbol/address_space.h"
#include "symbol/unwind_cache.h"
#include "symbol/unwinder.h"

namespace fathom {

class ProcessUnwindModules : public UnwindModules {
 public:
  ProcessUnwindModules(AddressSpaces& spaces, UnwindCache& cache)
      : spaces_(spaces), cache_(cache) {}

  void aim_at(int64_t pid, int64_t time_ns) {
    pid_ = pid;
    time_ns_ = time_ns;
  }

  UnwindModule find(uint64_t address) override;
  size_t read_code(uint64_t address, std::span<uint8_t> to) override;

  // Where the function around an address, as linked, starts.
  std::optional<uint64_t> function_start(const Module& module, uint64_t address) {
    const UnwindTable* table = table_of(module);
    return table == nullptr ? std::nullopt : table->function_start(address);
  }

  // Modules asked for that have no table: JIT code, unreadable files, no call frame information.
  [[nodiscard]] uint64_t modules_without_table() const { return without_table_; }

 private:
  const UnwindTable* table_of(const Module& module);

  AddressSpaces& spaces_;
  UnwindCache& cache_;
  int64_t pid_ = 0;
  int64_t time_ns_ = INT64_MAX;
  std::unordered_map<uint32_t, UnwindCache::Table> tables_;  // by module; null: none
  uint64_t without_table_ = 0;
};

}  // namespace fathom
