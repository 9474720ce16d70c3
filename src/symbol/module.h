// SPDX-License-Identifier: Apache-2.0
// A thing that code lies in: a file, the vdso, or memory without a file. One Module stands for one
// file however many processes map it; ModuleCache finds it. The file is opened when it is mapped,
// because a container's files are gone after it exits; its symbols are read at the first question.
// Belongs to the thread of its cache.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "symbol/elf_file.h"
#include "symbol/elf_symbols.h"

namespace fathom {

enum class ModuleKind : uint8_t { kFile, kVdso, kAnonymous, kUnreadable };

class Module {
 public:
  Module(uint32_t id, ModuleKind kind, std::string path)
      : id_(id), kind_(kind), path_(std::move(path)) {}

  [[nodiscard]] uint32_t id() const { return id_; }  // never given twice
  [[nodiscard]] ModuleKind kind() const { return kind_; }
  // As the target sees it; "[vdso]", "[anon]", "[heap]".
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& build_id() const { return build_id_; }  // hex
  // Why it cannot be read, for kUnreadable.
  [[nodiscard]] const Error& error() const { return error_; }

  // For other readers of the file (unwind tables). Null when there is none; its descriptor is
  // closed once the cache has too many open.
  [[nodiscard]] const ElfFile* elf() const { return elf_ ? &*elf_ : nullptr; }
  // From a place in the file to the file's own addresses.
  [[nodiscard]] std::optional<uint64_t> address_of_offset(uint64_t offset) const {
    return elf_ ? elf_->address_of_offset(offset) : std::nullopt;
  }

  // The file, or its separate debug file, that has debug information and is open; else null.
  [[nodiscard]] const ElfFile* file_with_lines() const;

  // Read at the first call; empty where there is no file.
  const ElfSymbols& symbols();
  [[nodiscard]] bool loaded() const { return symbols_ != nullptr; }

 private:
  friend class ModuleCache;

  uint32_t id_;
  ModuleKind kind_;
  std::string path_, build_id_;
  Error error_;
  std::optional<ElfFile> elf_, debug_;
  bool keeps_debug_ = false;  // after its symbols were read
  std::shared_ptr<const ElfSymbols> symbols_;
};

using ModulePtr = std::shared_ptr<Module>;

}  // namespace fathom
