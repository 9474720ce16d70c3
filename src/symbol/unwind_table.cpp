// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_table.h"

#include <algorithm>
#include <bit>

namespace fathom {
namespace {

constexpr uint64_t kRowsPerBucket = 4;

bool is_rising(const std::vector<uint32_t>& values) {
  const auto not_rising = [](uint32_t a, uint32_t b) { return a >= b; };
  return std::adjacent_find(values.begin(), values.end(), not_rising) == values.end();
}

}  // namespace

// The last row is the end marker: it starts where the last function ends.
UnwindTable::UnwindTable(Rows rows) : rows_(std::move(rows)) {
  if (rows_.starts.size() < 2) {
    rows_.starts.clear();
    rows_.rule_ids.clear();
    return;
  }
  covered_ = rows_.starts.back();
  const uint64_t buckets_wanted = rows_.starts.size() / kRowsPerBucket + 1;
  shift_ = static_cast<unsigned>(std::bit_width(covered_ / buckets_wanted));
  const size_t buckets = (covered_ >> shift_) + 1;
  index_.resize(buckets + 1);
  uint32_t row = 0;
  const auto count = static_cast<uint32_t>(rows_.starts.size());
  for (size_t bucket = 0; bucket <= buckets; ++bucket) {
    const uint64_t first = uint64_t{bucket} << shift_;
    while (row < count && rows_.starts[row] <= first) ++row;
    index_[bucket] = row;
  }
}

bool UnwindTable::is_sound(const Rows& rows) {
  if (rows.starts.size() != rows.rule_ids.size() || rows.starts.size() > UINT32_MAX) return false;
  if (!is_rising(rows.starts) || !is_rising(rows.functions)) return false;
  if (rows.starts.empty()) return true;
  if (rows.starts.front() != 0) return false;
  const auto is_known = [&](uint16_t id) { return id < rows.rules.size(); };
  const auto is_readable = [](const UnwindRule& rule) {
    UnwindRule marked = rule;
    marked.mark_changes();
    return rule.changed == marked.changed && rule.cfa <= CfaKind::kSignal &&
           rule.cfa_register < unwind_arch::kRegisters &&
           std::all_of(rule.slots.begin(), rule.slots.end(), [](Slot slot) {
             return slot.kind() != Slot::kInRegister ||
                    (slot.offset() >= 0 &&
                     slot.offset() < static_cast<int32_t>(unwind_arch::kRegisters * 8));
           });
  };
  return std::all_of(rows.rule_ids.begin(), rows.rule_ids.end(), is_known) &&
         std::all_of(rows.rules.begin(), rows.rules.end(), is_readable);
}

std::optional<uint64_t> UnwindTable::function_start(uint64_t address) const {
  if (find(address) == nullptr) return std::nullopt;
  const auto& functions = rows_.functions;
  const auto above = std::upper_bound(functions.begin(), functions.end(), address - rows_.base);
  if (above == functions.begin()) return std::nullopt;
  return rows_.base + *(above - 1);
}

size_t UnwindTable::memory_bytes() const {
  return sizeof *this + rows_.starts.capacity() * sizeof(uint32_t) +
         rows_.functions.capacity() * sizeof(uint32_t) +
         rows_.rule_ids.capacity() * sizeof(uint16_t) +
         rows_.rules.capacity() * sizeof(UnwindRule) + index_.capacity() * sizeof(uint32_t);
}

}  // namespace fathom
