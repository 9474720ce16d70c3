// SPDX-License-Identifier: Apache-2.0
// The unwinding rules of one module, by address as linked: rising starts (4 bytes) and rule numbers
// (2 bytes) in two arrays, the few different rules once, and an index so that a look-up searches a
// handful of rows. Also where functions start (4 bytes each), for those that have no name. Built
// once (unwind_table_builder.h), never changed: any thread may read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
  // As the builder makes them.
  struct Rows {
    uint64_t base = 0;             // address of the first row
    std::vector<uint32_t> starts;  // from base; the first is 0, each is higher than the one before
    std::vector<uint16_t> rule_ids;  // as many as starts, all below rules.size()
    std::vector<UnwindRule> rules;
    std::vector<uint32_t> functions;  // where they start, from base; rising
    UnwindTableCounts counts;
    std::vector<uint32_t> index;  // rows that start at or before each bucket's first byte
  };
  // The same wherever it lies: in Rows or in a file.
  struct View {
    uint64_t base = 0;
    std::span<const uint32_t> starts;
    std::span<const uint16_t> rule_ids;
    std::span<const UnwindRule> rules;
    std::span<const uint32_t> functions;
    UnwindTableCounts counts;
    std::span<const uint32_t> index;
  };

  UnwindTable() = default;
  // Makes the index.
  explicit UnwindTable(Rows rows);
  // What the view is of stays while the keeper does. It must be sound.
  UnwindTable(const View& view, std::shared_ptr<const void> keeper);
  static bool is_sound(const View& rows);
  // How long the index of such rows is.
  static size_t index_size(std::span<const uint32_t> starts);

  // nullptr where nothing is known.
  [[nodiscard]] const UnwindRule* find(uint64_t address) const {
    const uint64_t offset = address - rows_.base;
    if (offset >= covered_) return nullptr;
    const size_t bucket = offset >> shift_;
    size_t low = rows_.index[bucket];
    size_t high = rows_.index[bucket + 1];
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

  [[nodiscard]] const View& rows() const { return rows_; }
  [[nodiscard]] const UnwindTableCounts& counts() const { return rows_.counts; }
  [[nodiscard]] bool empty() const { return rows_.starts.empty(); }
  // Most functions keep a frame pointer: worth trying where a row is missing.
  [[nodiscard]] bool uses_frame_pointers() const {
    return rows_.counts.frame_pointer_fdes * 2 > rows_.counts.fdes;
  }
  [[nodiscard]] size_t memory_bytes() const;

 private:
  View rows_;
  std::shared_ptr<const void> keeper_;  // of what the rows lie in
  uint64_t covered_ = 0;                // bytes from base to the start of the last row
  unsigned shift_ = 0;                  // code bytes per bucket, as a power of two
};

}  // namespace fathom
