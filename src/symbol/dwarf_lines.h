// SPDX-License-Identifier: Apache-2.0
// From addresses to places in source code, through inlined calls, by libdw. libdw is opened at run
// time, so that the program starts where it is absent. It trusts what it reads: only a process that
// may crash should use this (line_process.h). One thread.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "symbol/source_frame.h"

namespace fathom {

// The functions of libdw that are used.
struct DwarfApi {
  decltype(&dwarf_begin) begin;
  decltype(&dwarf_getalt) getalt;
  decltype(&dwarf_get_units) get_units;
  decltype(&dwarf_offdie) offdie;
  decltype(&dwarf_dieoffset) dieoffset;
  decltype(&dwarf_ranges) ranges;
  decltype(&dwarf_haspc) haspc;
  decltype(&dwarf_child) child;
  decltype(&dwarf_siblingof) siblingof;
  decltype(&dwarf_tag) tag;
  decltype(&dwarf_diename) diename;
  decltype(&dwarf_attr) attr;
  decltype(&dwarf_attr_integrate) attr_integrate;
  decltype(&dwarf_formstring) formstring;
  decltype(&dwarf_formudata) formudata;
  decltype(&dwarf_getsrc_die) getsrc_die;
  decltype(&dwarf_lineno) lineno;
  decltype(&dwarf_linesrc) linesrc;
  decltype(&dwarf_getsrcfiles) getsrcfiles;
  decltype(&dwarf_filesrc) filesrc;
};
// Opened at the first call; an error with a hint where libdw is absent. Runs none of its code.
const Result<DwarfApi>& dwarf_api();

class DwarfLines {
 public:
  // Opens what the file refers to: the debug information that several files share
  // (.gnu_debugaltlink).
  DwarfLines(const DwarfApi& api, int file);

  // Reads the list of compilation units. Units in files of their own (-gsplit-dwarf) are left out
  // where no file can be opened any more.
  void read_units();

  // The places that an address (as linked) stands for, outermost first: the function, then what was
  // inlined into it. Nothing where nothing is known.
  void find(uint64_t address, std::vector<SourceFrame>& frames);

 private:
  struct Range {
    uint64_t start = 0, end = 0;
    Dwarf_Off die = 0;
  };
  using Ranges = std::vector<Range>;

  void add_ranges(Dwarf_Die& die, Ranges& to);
  const Ranges& functions_of(Dwarf_Off unit);
  void collect_functions(Dwarf_Die& parent, int depth, Ranges& to);
  bool step_into(Dwarf_Die& at, uint64_t address);
  [[nodiscard]] std::string name_of(Dwarf_Die& die) const;
  [[nodiscard]] uint64_t number_in(Dwarf_Die& die, unsigned attribute) const;
  void place_of_call(Dwarf_Die& unit, Dwarf_Die& call, SourceFrame& frame) const;
  void place_of_address(Dwarf_Die& unit, uint64_t address, SourceFrame& frame) const;

  const DwarfApi& api_;
  Dwarf* dwarf_ = nullptr;
  Ranges units_;
  std::unordered_map<Dwarf_Off, Ranges> functions_;  // by unit
};

}  // namespace fathom
