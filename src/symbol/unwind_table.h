// SPDX-License-Identifier: Apache-2.0
// The unwinding rules of one module, by address as linked: rising starts (4 bytes) and rule numbers
// (2 bytes) in two arrays, the few different rules once, and an index so that a look-up searches a
// handful of rows. Also where functions start (4 bytes each), for those that have no name. Built
// once (unwind_table_builder.h), never changed: any thread may read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/unwind_rule.h"

namespace fathom {

// What went into a table and what did not: misses are counted here, never silent.
struct UnwindTableCounts {
  uint64_t fdes = 0;                // read
  uint64_t frame_pointer_fdes = 0;  // of these: find their frame by the frame pointer
  uint64_t bad_entries = 0;         // CIEs and FDEs that make no sense
  uint64_t bad_programs = 0;        // FDEs with instructions we cannot read
  uint64_t partly_read = 0;         // FDEs with a register or frame in a form we do not use
  uint64_t overlaps = 0;            // FDEs cut or hidden by another
  uint64_t outside = 0;             // FDEs of no code of this module
  uint64_t dropped_rows = 0;        // beyond 65,536 different rules or 4 GB of code
};

class UnwindTable {
 public:
  struct Rows {
    uint64_t base = 0;             // address of the first row
    std::vector<uint32_t> starts;  // from base; the first is 0, each is higher than the one before
    std::vector<uint16_t> rule_ids;  // as many as starts, all below rules.size()
    std::vector<UnwindRule> rules;
    std::vector<uint32_t> functions;  // where they start, from base; rising
    UnwindTableCounts counts;
  };

  UnwindTable() = default;
  // Rows must be as described: see is_sound().
  explicit UnwindTable(Rows rows);
  static bool is_sound(const Rows& rows);

  // nullptr where nothing is known.
  [[nodiscard]] const UnwindRule* find(uint64_t address) const {
    const uint64_t offset = address - rows_.base;
    if (offset >= covered_) return nullptr;
    const size_t bucket = offset >> shift_;
    size_t low = index_[bucket];
    size_t high = index_[bucket + 1];
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (rows_.starts[middle] <= offset)
        low = middle + 1;
      else
        high = middle;
    }
    const UnwindRule& rule = rows_.rules[rows_.rule_ids[low - 1]];
    return rule.cfa == CfaKind::kNone ? nullptr : &rule;
  }

  // Where the function around the address starts; nothing where no function is known.
  [[nodiscard]] std::optional<uint64_t> function_start(uint64_t address) const;

  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] const UnwindTableCounts& counts() const { return rows_.counts; }
  [[nodiscard]] bool empty() const { return rows_.starts.empty(); }
  // Most functions keep a frame pointer: worth trying where a row is missing.
  [[nodiscard]] bool uses_frame_pointers() const {
    return rows_.counts.frame_pointer_fdes * 2 > rows_.counts.fdes;
  }
  [[nodiscard]] size_t memory_bytes() const;

 private:
  Rows rows_;
  uint64_t covered_ = 0;         // bytes from base to the start of the last row
  unsigned shift_ = 0;           // code bytes per bucket, as a power of two
  std::vector<uint32_t> index_;  // rows that start at or before each bucket's first byte
};

}  // namespace fathom
