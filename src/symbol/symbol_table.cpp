// SPDX-License-Identifier: Apache-2.0
#include "symbol/symbol_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

namespace fathom {
namespace {

// Real code nests two or three deep. Deeper is a hostile file, and a lookup must not crawl.
constexpr int kMaxNesting = 64;
constexpr uint64_t kMaxSize = std::numeric_limits<uint32_t>::max();
constexpr size_t kStartsPerBucket = 4;

size_t leading_underscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

}  // namespace

uint32_t SymbolTable::find_index(uint64_t address) const {
  if (starts_.empty() || address < starts_.front()) return kNone;
  const uint64_t bucket = std::min((address - starts_.front()) >> shift_, index_.size() - 2);
  // The last start at or below the address. No branch depends on the data: twice as fast as
  // std::upper_bound, whose every second guess is wrong.
  const uint64_t* first = starts_.data() + index_[bucket];
  for (size_t left = index_[bucket + 1] - index_[bucket] + 1; left > 1;) {
    const size_t half = left / 2;
    first += static_cast<size_t>(first[half] <= address) * half;
    left -= half;
  }
  auto index = static_cast<uint32_t>(first - starts_.data());
  for (int depth = 0; index != kNone && depth < kMaxNesting; ++depth) {
    if (address - starts_[index] < rest_[index].size) return index;
    index = rest_[index].outer;
  }
  return kNone;
}

void SymbolTable::make_index() {
  if (starts_.empty()) return;
  const uint64_t covered = starts_.back() - starts_.front();
  const uint64_t buckets_wanted = starts_.size() / kStartsPerBucket + 1;
  shift_ = std::min(static_cast<unsigned>(std::bit_width(covered / buckets_wanted)), 63U);
  index_.resize((covered >> shift_) + 2);
  uint32_t at = 0;
  for (size_t bucket = 0; bucket + 1 < index_.size(); ++bucket) {
    const uint64_t first = uint64_t{bucket} << shift_;
    while (at + 1 < starts_.size() && starts_[at + 1] - starts_.front() <= first) ++at;
    index_[bucket] = at;
  }
  index_.back() = static_cast<uint32_t>(starts_.size() - 1);
}

std::optional<Symbol> SymbolTable::find(uint64_t address) const {
  const uint32_t index = find_index(address);
  if (index == kNone) return std::nullopt;
  return at(index);
}

Symbol SymbolTable::at(uint32_t index) const {
  const char* name = names_.data() + rest_[index].name;
  return {.name = {name, strnlen(name, SymbolTableBuilder::kMaxNameBytes)},
          .start = starts_[index],
          .size = rest_[index].size};
}

size_t SymbolTable::memory_bytes() const {
  return starts_.capacity() * sizeof(uint64_t) + rest_.capacity() * sizeof(Rest) +
         names_.capacity() + index_.capacity() * sizeof(uint32_t);
}

uint32_t SymbolTableBuilder::add_names(std::string names) {
  pools_.push_back(std::move(names));
  return static_cast<uint32_t>(pools_.size() - 1);
}

void SymbolTableBuilder::add(uint64_t start, uint64_t size, uint64_t limit, SymbolRank rank,
                             uint32_t names, uint32_t name_offset) {
  const Raw raw{start, std::min(size, kMaxSize), limit, names, name_offset, rank};
  const bool sane = names < pools_.size() && name_offset < pools_[names].size() &&
                    raw_.size() < kMaxSymbols && start + raw.size >= start;
  if (!sane || pools_[names][name_offset] == '\0') {
    ++refused_;
    return;
  }
  raw_.push_back(raw);
}

void SymbolTableBuilder::add(uint64_t start, uint64_t size, SymbolRank rank,
                             std::string_view name) {
  const size_t offset = pools_[0].size();
  pools_[0].append(name.substr(0, std::min(name.find('\0'), kMaxNameBytes)));
  pools_[0] += '\0';
  add(start, size, start + size, rank, 0, static_cast<uint32_t>(offset));
}

std::string_view SymbolTableBuilder::name_of(const Raw& raw) const {
  const std::string& pool = pools_[raw.names];
  const size_t most = std::min(pool.size() - raw.name, kMaxNameBytes);
  return {pool.data() + raw.name, strnlen(pool.data() + raw.name, most)};
}

// Whether `left` is the better name of the two at one address. Among aliases such as write,
// __write and __libc_write the one that people know has the fewest underscores and letters.
bool SymbolTableBuilder::better(const Raw& left, const Raw& right) const {
  if ((left.size > 0) != (right.size > 0)) return left.size > 0;
  if (left.rank != right.rank) return left.rank > right.rank;
  const std::string_view a = name_of(left), b = name_of(right);
  const size_t a_lead = leading_underscores(a), b_lead = leading_underscores(b);
  if (a_lead != b_lead) return a_lead < b_lead;
  if (a.size() != b.size()) return a.size() < b.size();
  if (a != b) return a < b;
  return left.size > right.size;
}

// One for each address, rising.
std::vector<uint32_t> SymbolTableBuilder::best() const {
  std::vector<uint32_t> kept;
  kept.reserve(raw_.size());
  uint64_t last = 0;
  for (const Key& key : sorted_keys()) {
    if (kept.empty() || last != key.start)
      kept.push_back(key.index);
    else if (better(raw_[key.index], raw_[kept.back()]))
      kept.back() = key.index;
    last = key.start;
  }
  return kept;
}

// By counting, 11 bits at a time from the lowest: a fifth of the time that comparing takes, for
// tables in the order of a hash, as .dynsym is.
std::vector<SymbolTableBuilder::Key> SymbolTableBuilder::sorted_keys() const {
  constexpr unsigned kBits = 11;
  std::vector<Key> keys, other(raw_.size());
  keys.reserve(raw_.size());
  uint64_t lowest = UINT64_MAX, highest = 0;
  for (const Raw& raw : raw_) {
    keys.push_back({raw.start, static_cast<uint32_t>(keys.size())});
    lowest = std::min(lowest, raw.start);
    highest = std::max(highest, raw.start);
  }
  if (std::ranges::is_sorted(keys, {}, &Key::start)) return keys;
  for (unsigned shift = 0; shift < 64 && (highest - lowest) >> shift != 0; shift += kBits) {
    const auto digit = [&](const Key& key) {
      return (key.start - lowest) >> shift & ((1U << kBits) - 1);
    };
    std::array<uint32_t, (1U << kBits) + 1> places{};
    for (const Key& key : keys) ++places[digit(key) + 1];
    std::partial_sum(places.begin(), places.end(), places.begin());
    for (const Key& key : keys) other[places[digit(key)]++] = key;
    keys.swap(other);
  }
  return keys;
}

// String tables share endings ("pwrite" holds "write"), so the names may need more room than they
// did in the file, but not much: beyond that, a hostile file points all symbols at one long name.
size_t SymbolTableBuilder::most_name_bytes() const {
  size_t bytes = 1 << 20;
  for (const std::string& pool : pools_) bytes += 2 * pool.size();
  return std::min<size_t>(bytes, kMaxSize);
}

// Sizes, nesting and names. A symbol without a size inside one that has a size is a label and is
// left out. The largest string table stays as it is; names of the others are added to it.
void SymbolTableBuilder::place(const std::vector<uint32_t>& order, SymbolTable& table) {
  const size_t most = most_name_bytes();
  const auto largest = std::ranges::max_element(pools_, {}, &std::string::size);
  const auto kept = static_cast<uint32_t>(largest - pools_.begin());
  table.names_ = std::move(*largest);
  table.names_ += '\0';
  std::vector<std::pair<uint64_t, uint32_t>> open;  // end and index of symbols around this place
  for (size_t i = 0; i < order.size(); ++i) {
    const Raw& raw = raw_[order[i]];
    while (!open.empty() && open.back().first <= raw.start) open.pop_back();
    uint64_t size = raw.size;
    if (size == 0) {
      if (!open.empty()) continue;
      const uint64_t next = i + 1 < order.size() ? raw_[order[i + 1]].start : raw.limit;
      const uint64_t end = std::min(next, raw.limit);
      size = end > raw.start ? std::min(end - raw.start, kMaxSize) : 1;
    }
    uint32_t name = raw.name;
    if (raw.names != kept) {
      const std::string_view text = name_of(raw);
      if (table.names_.size() + text.size() >= most) {
        ++refused_;
        continue;
      }
      name = static_cast<uint32_t>(table.names_.size());
      table.names_.append(text);
      table.names_ += '\0';
    }
    const auto index = static_cast<uint32_t>(table.starts_.size());
    table.starts_.push_back(raw.start);
    table.rest_.push_back({.size = static_cast<uint32_t>(size),
                           .name = name,
                           .outer = open.empty() ? SymbolTable::kNone : open.back().second});
    open.emplace_back(raw.start + size, index);
  }
}

SymbolTable SymbolTableBuilder::build() {
  const std::vector<uint32_t> order = best();
  SymbolTable table;
  table.starts_.reserve(order.size());
  table.rest_.reserve(order.size());
  place(order, table);
  table.make_index();
  raw_ = {};
  pools_ = {{}};
  return table;
}

}  // namespace fathom
