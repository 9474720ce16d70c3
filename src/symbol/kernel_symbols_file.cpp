// SPDX-License-Identifier: Apache-2.0
#include "symbol/kernel_symbols_file.h"

#include <algorithm>
#include <cstring>

#include "base/scan.h"
#include "symbol/cache_file.h"

namespace fathom {
namespace {

constexpr CacheKind kKind = {"FTHKSYM\n", 1};

struct KernelFileHeader {
  uint64_t entries;
  uint64_t names;    // bytes
  uint64_t modules;  // bytes: one a line
  char key[64];      // the rest is NUL
};
static_assert(sizeof(KernelFileHeader) == 88);

Error corrupt_kernel_file(std::string_view what) {
  return Error{Code::kCorrupt, "kernel symbols file: " + std::string(what)};
}

bool has_key(const KernelFileHeader& header, std::string_view key) {
  return std::string_view(header.key, strnlen(header.key, sizeof header.key)) == key;
}

// Not a module of the kernel: "[bpf]", "[__builtin__ftrace]", "[__builtin__kprobes]".
bool is_passing(std::string_view module) {
  return module == "[bpf]" || module.starts_with("[__builtin__");
}

}  // namespace

std::string encode_kernel_symbols(const KernelSymbols& symbols, std::string_view key) {
  std::vector<KernelSymbols::Entry> entries;
  entries.reserve(symbols.entries_.size());
  for (const auto& entry : symbols.entries_)
    if (!is_passing(symbols.modules_[entry.module])) entries.push_back(entry);
  std::string modules;
  for (const std::string& module : symbols.modules_) modules += module + "\n";
  KernelFileHeader header = {};
  header.entries = entries.size();
  header.names = symbols.names_.size();
  header.modules = modules.size();
  key.copy(header.key, sizeof header.key);
  std::string bytes = begin_cache(kKind);
  bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
  append_raw(bytes, std::span<const KernelSymbols::Entry>(entries));
  bytes += symbols.names_;
  bytes += modules;
  seal_cache(bytes);
  return bytes;
}

Result<KernelSymbols> decode_kernel_symbols(const CacheBytes& file, std::string_view key) {
  auto opened = open_cache(kKind, file.bytes);
  if (!opened.ok()) return std::move(opened).error().within("kernel symbols file");
  std::string_view bytes = opened.value();
  KernelFileHeader header;
  if (bytes.size() < sizeof header) return corrupt_kernel_file("cut");
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (!has_key(header, key)) return Error{Code::kNotFound, "kernel symbols of another boot"};
  constexpr uint64_t kEntryBytes = sizeof(KernelSymbols::Entry);
  if (header.entries > bytes.size() / kEntryBytes || header.names > bytes.size() ||
      header.modules > bytes.size() ||
      header.entries * kEntryBytes + header.names + header.modules != bytes.size())
    return corrupt_kernel_file("of another size than it says");
  KernelSymbols symbols;
  symbols.keeper_ = file.keeper;
  symbols.entries_ = take_raw<KernelSymbols::Entry>(bytes, header.entries);
  symbols.names_ = bytes.substr(0, header.names);
  bytes.remove_prefix(header.names);
  symbols.modules_.clear();
  while (const auto line = take_line(bytes)) symbols.modules_.emplace_back(*line);
  if (!symbols.is_sound()) return corrupt_kernel_file("entries that make no sense");
  return symbols;
}

}  // namespace fathom
