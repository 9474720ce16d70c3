// SPDX-License-Identifier: Apache-2.0
#include "record/stack_rows.h"

#include <cstring>

namespace fathom {
namespace {

enum StackColumn : size_t { kId, kParent, kDepth, kSymbol, kModule, kBuildId, kFile, kLine, kKind };

void fill_kinds(const StackRow* rows, size_t count, duckdb_vector out) {
  for (size_t i = 0; i < count; ++i) {
    const char* name = frame_kind_name(rows[i].frame.kind);
    loaded_duck_api().vector_assign_string_element_len(out, i, name, std::strlen(name));
  }
}

}  // namespace

bool HashSet::insert(uint64_t hash) {
  if (hash == 0) return !std::exchange(has_zero_, true);
  if (2 * used_ >= slots_.size()) grow();
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at] != 0) {
    if (slots_[at] == hash) return false;
    at = (at + 1) & (slots_.size() - 1);
  }
  slots_[at] = hash;
  ++used_;
  return true;
}

void HashSet::grow() {
  const std::vector<uint64_t> old = std::exchange(slots_, std::vector<uint64_t>(slots_.size() * 2));
  for (const uint64_t hash : old) {
    if (hash == 0) continue;
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = hash;
  }
}

std::vector<StackRow> StackRows::fresh(const Dictionary& dictionary) {
  const std::vector<uint64_t> hashes = dictionary.stack_hashes();
  std::vector<int64_t> depths(hashes.size());
  std::vector<StackRow> rows;
  for (size_t i = 1; i < hashes.size(); ++i) {
    const StackNode& node = dictionary.stacks[i];
    depths[i] = depths[index_of(node.parent)] + 1;
    if (!seen_.insert(hashes[i])) continue;
    rows.push_back({hashes[i], hashes[index_of(node.parent)], node.parent == StackId::kNone,
                    depths[i], dictionary.frames[index_of(node.frame)]});
  }
  return rows;
}

void fill_stack_column(size_t column, FillSource& from, const StackRow* rows, size_t count,
                       duckdb_vector out) {
  const auto text = [&](StringId Frame::*part) {
    from.fill_text(out, count, [&](size_t i) { return rows[i].frame.*part; });
  };
  NullMarks nulls(out);
  if (column == kSymbol) return text(&Frame::symbol);
  if (column == kModule) return text(&Frame::module);
  if (column == kBuildId) return text(&Frame::build_id);
  if (column == kFile) return text(&Frame::file);
  if (column == kKind) return fill_kinds(rows, count, out);
  auto* hashes = duck_cells<uint64_t>(out);
  auto* numbers = duck_cells<int64_t>(out);
  for (size_t i = 0; i < count; ++i) {
    const StackRow& row = rows[i];
    if (column == kId) hashes[i] = row.id;
    if (column == kParent) row.is_root ? nulls.set(i) : void(hashes[i] = row.parent);
    if (column == kDepth) numbers[i] = row.depth;
    if (column == kLine) row.frame.line == 0 ? nulls.set(i) : void(numbers[i] = row.frame.line);
  }
}

}  // namespace fathom
