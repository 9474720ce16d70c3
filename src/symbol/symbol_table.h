// SPDX-License-Identifier: Apache-2.0
// Names of address ranges, sorted: some 21 bytes a symbol beside its name, and an index so that a
// lookup searches a handful.
// SymbolTableBuilder takes symbols in any order, from any number of sources, and decides between
// those at one address; SymbolTable is what comes out and no longer changes (any thread may read).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

struct Symbol {
  std::string_view name;  // as in the file, mangled; lives as long as its table
  uint64_t start = 0, size = 0;
};

class SymbolTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The index of the innermost symbol that covers the address, or kNone.
  [[nodiscard]] uint32_t find_index(uint64_t address) const;
  [[nodiscard]] std::optional<Symbol> find(uint64_t address) const;
  [[nodiscard]] Symbol at(uint32_t index) const;
  [[nodiscard]] size_t size() const { return starts_.size(); }
  [[nodiscard]] bool empty() const { return starts_.empty(); }
  [[nodiscard]] size_t memory_bytes() const;

 private:
  friend class SymbolTableBuilder;
  struct Rest {
    uint32_t size = 0;
    uint32_t name = 0;       // where in names_
    uint32_t outer = kNone;  // the symbol this one lies in
  };
  void make_index();

  std::vector<uint64_t> starts_;
  std::vector<Rest> rest_;
  std::string names_;            // each ends with NUL
  unsigned shift_ = 0;           // bytes per bucket, as a power of two
  std::vector<uint32_t> index_;  // the last start at or before each bucket's first byte
};

// How much a name says about an address; higher wins at equal starts.
enum class SymbolRank : uint8_t { kLabel, kLocal, kGlobal };

class SymbolTableBuilder {
 public:
  // A longer name is cut: no demangler takes it.
  static constexpr size_t kMaxNameBytes = 4096;
  static constexpr size_t kMaxSymbols = 4 << 20;

  // Keeps a string table; symbols name it by the number given back.
  uint32_t add_names(std::string names);
  // A view until the next add_names.
  [[nodiscard]] std::string_view names(uint32_t pool) const { return pools_[pool]; }
  // `size` 0: it reaches to the next symbol, but not beyond `limit` (the end of its section).
  void add(uint64_t start, uint64_t size, uint64_t limit, SymbolRank rank, uint32_t names,
           uint32_t name_offset);
  // The same with a name of its own.
  void add(uint64_t start, uint64_t size, SymbolRank rank, std::string_view name);
  void reserve(size_t symbols) { raw_.reserve(std::min(raw_.size() + symbols, kMaxSymbols)); }

  [[nodiscard]] size_t size() const { return raw_.size(); }
  [[nodiscard]] size_t refused() const { return refused_; }
  // Leaves the builder empty.
  SymbolTable build();

 private:
  struct Raw {
    uint64_t start, size, limit;
    uint32_t names, name;
    SymbolRank rank;
  };
  [[nodiscard]] std::string_view name_of(const Raw& raw) const;
  [[nodiscard]] bool better(const Raw& left, const Raw& right) const;
  struct Key {
    uint64_t start;
    uint32_t index;  // in raw_
  };
  [[nodiscard]] std::vector<Key> sorted_keys() const;
  [[nodiscard]] std::vector<uint32_t> best() const;
  void place(const std::vector<uint32_t>& order, SymbolTable& table);
  [[nodiscard]] size_t most_name_bytes() const;

  std::vector<std::string> pools_{{}};  // the first is for names of their own
  std::vector<Raw> raw_;
  size_t refused_ = 0;
};

}  // namespace fathom
