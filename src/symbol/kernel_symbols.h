// SPDX-License-Identifier: Apache-2.0
// The kernel's functions and those of its modules, from /proc/kallsyms. The kernel shows ordinary
// users zeros for addresses: then there is an error with a hint, never a wrong name. Loaded once,
// read by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbol/cache_file.h"

namespace fathom {

struct KernelSymbol {
  std::string_view name;
  std::string_view module;  // "[ext4]", "[bpf]"; "[kernel]" for what is built in
  uint64_t start = 0;
};

class KernelSymbols {
 public:
  static Result<KernelSymbols> load(const std::string& path = "/proc/kallsyms");
  static Result<KernelSymbols> parse(std::string_view text);

  [[nodiscard]] std::optional<KernelSymbol> find(uint64_t address) const;
  // Whether the address lies between two functions of the same module, so that its name holds even
  // if something else was put into the kernel since.
  [[nodiscard]] bool surely_covers(uint64_t address) const;
  // The kernel half of the address space.
  static bool is_kernel_address(uint64_t address) { return address >> 63 != 0; }
  [[nodiscard]] size_t size() const { return entries_.size(); }
  [[nodiscard]] uint64_t first() const { return entries_.empty() ? 0 : entries_.front().start; }
  [[nodiscard]] size_t memory_bytes() const;

 private:
  friend std::string encode_kernel_symbols(const KernelSymbols& symbols, std::string_view key);
  friend Result<KernelSymbols> decode_kernel_symbols(const CacheBytes& file, std::string_view key);

  struct Entry {
    uint64_t start = 0;
    uint32_t name = 0;  // where in names_
    uint16_t length = 0;
    uint16_t module = 0;
  };
  class Reader;  // of the kernel's list
  [[nodiscard]] bool is_sound() const;

  std::span<const Entry> entries_;
  std::string_view names_;
  std::shared_ptr<const void> keeper_;  // of both
  std::vector<std::string> modules_{"[kernel]"};
};

}  // namespace fathom
