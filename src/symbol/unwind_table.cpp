// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_table.h"

#include <algorithm>
#include <bit>

namespace fathom {
namespace {

constexpr uint64_t kRowsPerBucket = 4;

bool is_rising(std::span<const uint32_t> values) {
  const auto not_rising = [](uint32_t a, uint32_t b) { return a >= b; };
  return std::adjacent_find(values.begin(), values.end(), not_rising) == values.end();
}

// Code bytes per bucket, as a power of two. The last row is the end marker: it starts where the
// last function ends.
unsigned bucket_shift(std::span<const uint32_t> starts) {
  const uint64_t buckets_wanted = starts.size() / kRowsPerBucket + 1;
  return std::min(31U, static_cast<unsigned>(std::bit_width(starts.back() / buckets_wanted)));
}

std::vector<uint32_t> make_index(std::span<const uint32_t> starts) {
  std::vector<uint32_t> index(UnwindTable::index_size(starts));
  if (index.empty()) return index;
  const unsigned shift = bucket_shift(starts);
  uint32_t row = 0;
  const auto count = static_cast<uint32_t>(starts.size());
  for (size_t bucket = 0; bucket < index.size(); ++bucket) {
    const uint64_t first = uint64_t{bucket} << shift;
    while (row < count && starts[row] <= first) ++row;
    index[bucket] = row;
  }
  return index;
}

UnwindTable::View view_of(const UnwindTable::Rows& rows) {
  return {rows.base,      rows.starts, rows.rule_ids, rows.rules,
          rows.functions, rows.counts, rows.index};
}

// Every search stays within the rows, and finds one.
bool is_index_sound(const UnwindTable::View& rows) {
  if (rows.index.size() != UnwindTable::index_size(rows.starts)) return false;
  return rows.index.empty() || (rows.index.front() > 0 && rows.index.back() <= rows.starts.size() &&
                                std::is_sorted(rows.index.begin(), rows.index.end()));
}

}  // namespace

size_t UnwindTable::index_size(std::span<const uint32_t> starts) {
  return starts.size() < 2 ? 0 : (starts.back() >> bucket_shift(starts)) + 2;
}

UnwindTable::UnwindTable(Rows rows) {
  if (rows.starts.size() < 2) {
    rows.starts.clear();
    rows.rule_ids.clear();
  }
  rows.index = make_index(rows.starts);
  auto kept = std::make_shared<const Rows>(std::move(rows));
  *this = UnwindTable(view_of(*kept), kept);
}

UnwindTable::UnwindTable(const View& view, std::shared_ptr<const void> keeper)
    : rows_(view), keeper_(std::move(keeper)) {
  if (rows_.index.empty()) return;
  covered_ = rows_.starts.back();
  shift_ = bucket_shift(rows_.starts);
}

bool UnwindTable::is_sound(const View& rows) {
  if (rows.starts.size() != rows.rule_ids.size() || rows.starts.size() > UINT32_MAX) return false;
  if (!is_rising(rows.starts) || !is_rising(rows.functions)) return false;
  if (!is_index_sound(rows)) return false;
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
  return sizeof *this + rows_.starts.size_bytes() + rows_.functions.size_bytes() +
         rows_.rule_ids.size_bytes() + rows_.rules.size_bytes() + rows_.index.size_bytes();
}

}  // namespace fathom
