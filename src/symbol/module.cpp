// SPDX-License-Identifier: Apache-2.0
#include "symbol/module.h"

namespace fathom {

const ElfSymbols& Module::symbols() {
  static const ElfSymbols none;
  if (symbols_ == nullptr && elf_) {
    auto read = load_elf_symbols(*elf_, debug_ ? &*debug_ : nullptr);
    symbols_ = std::make_shared<const ElfSymbols>(std::move(read));
    if (!keeps_debug_) debug_.reset();
  }
  return symbols_ == nullptr ? none : *symbols_;
}

const ElfFile* Module::file_with_lines() const {
  for (const auto* file : {&elf_, &debug_})
    if (*file && (*file)->descriptor() >= 0 && has_lines(**file)) return &**file;
  return nullptr;
}

}  // namespace fathom
