// SPDX-License-Identifier: Apache-2.0
// A process that reads the debug information of one file and answers which lines its addresses
// stand for. It is a process because libdw may crash, hang or eat memory over a hostile file, or be
// taken over by it: then it is ended, and that file has no lines. It has no privileges, can open no
// file, and its CPU time, memory and each answer are bounded. It ends with its owner. Belongs to
// one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/fd.h"
#include "symbol/dwarf_lines.h"

namespace fathom {

class LineProcess {
 public:
  // `file` is a descriptor of the file; it need not stay open.
  static Result<std::unique_ptr<LineProcess>> start(const DwarfApi& api, int file);
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  // As DwarfLines::find. An error: it has crashed or took too long, and is of no more use.
  Result<std::vector<SourceFrame>> find(uint64_t address);

 private:
  LineProcess(Fd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

  Fd socket_;
  pid_t pid_;
  bool answered_ = false;
};

}  // namespace fathom
