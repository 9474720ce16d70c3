// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_process.h"

#include "symbol/unwind_sections.h"

namespace fathom {

UnwindModule ProcessUnwindModules::find(uint64_t address) {
  const Place place = spaces_.find(pid_, address, time_ns_);
  if (place.found != Place::Found::kYes) return {};
  UnwindModule found;
  found.start = place.start;
  found.end = place.end;
  if (place.module == nullptr) return found;
  const auto linked = place.module->address_of_offset(place.file_offset);
  if (!linked) return found;
  found.table = table_of(*place.module);
  found.bias = address - *linked;
  found.entry = place.module->elf()->entry();
  return found;
}

const UnwindTable* ProcessUnwindModules::table_of(const Module& module) {
  const auto known = tables_.find(module.id());
  if (known != tables_.end()) return known->second.get();
  const auto build = [&]() -> Result<UnwindTable> {
    if (module.elf() == nullptr) return Error{Code::kNotFound, "no file to read"};
    return unwind_table_of(*module.elf());
  };
  auto table = cache_.get(module.build_id(), build);
  if (!table.ok()) ++without_table_;
  UnwindCache::Table& kept = tables_[module.id()];
  if (table.ok()) kept = std::move(table).value();
  return kept.get();
}

size_t ProcessUnwindModules::read_code(uint64_t address, std::span<uint8_t> to) {
  const Place place = spaces_.find(pid_, address, time_ns_);
  if (place.found != Place::Found::kYes || place.module == nullptr) return 0;
  const ElfFile* elf = place.module->elf();
  if (elf == nullptr || place.file_offset >= elf->size()) return 0;
  const size_t size = std::min<uint64_t>(to.size(), elf->size() - place.file_offset);
  return elf->read_into(place.file_offset, to.data(), size).ok() ? size : 0;
}

}  // namespace fathom
