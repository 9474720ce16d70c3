// SPDX-License-Identifier: Apache-2.0
#include "symbol/dwarf_lines.h"

#include <dlfcn.h>
#include <dwarf.h>

#include <algorithm>

namespace fathom {
namespace {

// More than any compiler makes: what is beyond is left out.
constexpr size_t kMostRanges = size_t{8} << 20;
constexpr int kMostDepth = 64;
constexpr int kMostSteps = 1 << 20;  // between one function and what was inlined into it

template <class F>
bool load(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

Result<DwarfApi> load_api() {
  void* library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
  DwarfApi api{};
  if (library != nullptr && load(library, "dwarf_begin", api.begin) &&
      load(library, "dwarf_getalt", api.getalt) &&
      load(library, "dwarf_get_units", api.get_units) &&
      load(library, "dwarf_offdie", api.offdie) &&
      load(library, "dwarf_dieoffset", api.dieoffset) &&
      load(library, "dwarf_ranges", api.ranges) && load(library, "dwarf_haspc", api.haspc) &&
      load(library, "dwarf_child", api.child) && load(library, "dwarf_siblingof", api.siblingof) &&
      load(library, "dwarf_tag", api.tag) && load(library, "dwarf_diename", api.diename) &&
      load(library, "dwarf_attr", api.attr) &&
      load(library, "dwarf_attr_integrate", api.attr_integrate) &&
      load(library, "dwarf_formstring", api.formstring) &&
      load(library, "dwarf_formudata", api.formudata) &&
      load(library, "dwarf_getsrc_die", api.getsrc_die) &&
      load(library, "dwarf_lineno", api.lineno) && load(library, "dwarf_linesrc", api.linesrc) &&
      load(library, "dwarf_getsrcfiles", api.getsrcfiles) &&
      load(library, "dwarf_filesrc", api.filesrc))
    return api;
  return Error{Code::kUnsupported, "source lines need libdw.so.1", "apt install libdw1"};
}

// Ranges may nest or overlap in hostile files only: then any of them will do.
template <class Ranges>
auto range_at(const Ranges& ranges, uint64_t address) -> decltype(ranges.data()) {
  using Range = typename Ranges::value_type;
  const auto above = std::ranges::upper_bound(ranges, address, {}, &Range::start);
  if (above == ranges.begin() || address >= (above - 1)->end) return nullptr;
  return &*(above - 1);
}

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

const Result<DwarfApi>& dwarf_api() {
  static const Result<DwarfApi> api = load_api();
  return api;
}

DwarfLines::DwarfLines(const DwarfApi& api, int file)
    : api_(api), dwarf_(api.begin(file, DWARF_C_READ)) {
  if (dwarf_ != nullptr) (void)api_.getalt(dwarf_);
}

void DwarfLines::read_units() {
  if (dwarf_ == nullptr) return;
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die{}, split{};
  while (api_.get_units(dwarf_, unit, &unit, nullptr, nullptr, &die, &split) == 0)
    add_ranges(die, units_);
  std::ranges::sort(units_, {}, &Range::start);
}

void DwarfLines::add_ranges(Dwarf_Die& die, Ranges& to) {
  Dwarf_Addr base = 0, start = 0, end = 0;
  ptrdiff_t at = 0;
  while (to.size() < kMostRanges && (at = api_.ranges(&die, at, &base, &start, &end)) > 0)
    if (end > start) to.push_back({start, end, api_.dieoffset(&die)});
}

const DwarfLines::Ranges& DwarfLines::functions_of(Dwarf_Off unit) {
  auto [at, added] = functions_.try_emplace(unit);
  Dwarf_Die die{};
  if (added && api_.offdie(dwarf_, unit, &die) != nullptr) {
    collect_functions(die, 0, at->second);
    std::ranges::sort(at->second, {}, &Range::start);
  }
  return at->second;
}

void DwarfLines::collect_functions(Dwarf_Die& parent, int depth, Ranges& to) {
  Dwarf_Die die{};
  if (depth == kMostDepth || api_.child(&parent, &die) != 0) return;
  do {
    switch (api_.tag(&die)) {
      case DW_TAG_subprogram:
        add_ranges(die, to);
        break;
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
        collect_functions(die, depth + 1, to);
        break;
      default:
        break;
    }
  } while (to.size() < kMostRanges && api_.siblingof(&die, &die) == 0);
}

void DwarfLines::find(uint64_t address, std::vector<SourceFrame>& frames) {
  frames.clear();
  if (dwarf_ == nullptr) return;
  const Range* in_unit = range_at(units_, address);
  Dwarf_Die unit{}, at{};
  if (in_unit == nullptr || api_.offdie(dwarf_, in_unit->die, &unit) == nullptr) return;
  frames.emplace_back();
  const Range* function = range_at(functions_of(in_unit->die), address);
  if (function != nullptr && api_.offdie(dwarf_, function->die, &at) != nullptr) {
    frames.back().name = name_of(at);
    for (int depth = 0; depth < kMostDepth && step_into(at, address); ++depth) {
      if (api_.tag(&at) != DW_TAG_inlined_subroutine) continue;
      place_of_call(unit, at, frames.back());
      frames.push_back({.name = name_of(at), .file = {}, .line = 0});
    }
  }
  place_of_address(unit, address, frames.back());
}

// To the child that holds the address.
bool DwarfLines::step_into(Dwarf_Die& at, uint64_t address) {
  Dwarf_Die die{};
  if (api_.child(&at, &die) != 0) return false;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    const int tag = api_.tag(&die);
    const bool may_hold = tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
                          tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
    if (may_hold && api_.haspc(&die, address) > 0) {
      at = die;
      return true;
    }
    if (api_.siblingof(&die, &die) != 0) return false;
  }
  return false;
}

std::string DwarfLines::name_of(Dwarf_Die& die) const {
  Dwarf_Attribute attribute{};
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (api_.attr_integrate(&die, name, &attribute) != nullptr)
      if (const char* text = api_.formstring(&attribute)) return text;
  return text_or_empty(api_.diename(&die));
}

uint64_t DwarfLines::number_in(Dwarf_Die& die, unsigned attribute) const {
  Dwarf_Attribute found{};
  Dwarf_Word number = 0;
  if (api_.attr(&die, attribute, &found) == nullptr || api_.formudata(&found, &number) != 0)
    return 0;
  return number;
}

void DwarfLines::place_of_call(Dwarf_Die& unit, Dwarf_Die& call, SourceFrame& frame) const {
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  const uint64_t file = number_in(call, DW_AT_call_file);
  if (api_.getsrcfiles(&unit, &files, &count) == 0 && file < count)
    frame.file = text_or_empty(api_.filesrc(files, file, nullptr, nullptr));
  frame.line =
      static_cast<uint32_t>(std::min<uint64_t>(number_in(call, DW_AT_call_line), INT32_MAX));
}

void DwarfLines::place_of_address(Dwarf_Die& unit, uint64_t address, SourceFrame& frame) const {
  Dwarf_Line* line = api_.getsrc_die(&unit, address);
  int number = 0;
  if (line == nullptr || api_.lineno(line, &number) != 0 || number < 0) return;
  frame.line = static_cast<uint32_t>(number);
  frame.file = text_or_empty(api_.linesrc(line, nullptr, nullptr));
}

}  // namespace fathom
