// SPDX-License-Identifier: Apache-2.0
#include "symbol/kernel_names.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <vector>

#include "base/crc32c.h"
#include "base/fd.h"
#include "base/scan.h"
#include "symbol/cache_file.h"
#include "symbol/kernel_symbols_file.h"

namespace fathom {
namespace {

constexpr std::string_view kEnding = ".kernel";

// "name size users dependencies state address": all but what changes while a module stays.
std::string lasting_words(std::string_view modules) {
  std::string text;
  while (auto line = take_line(modules)) {
    for (int word = 0; word < 6; ++word) {
      const std::string_view taken = take_word(*line);
      if (word < 2 || word == 5) text += std::string(taken) + " ";
    }
  }
  return text;
}

}  // namespace

std::optional<KernelSymbol> KernelNames::find(uint64_t address) {
  if (!symbols_ && !error_) load();
  if (from_file_ && !symbols_->surely_covers(address)) read_list();
  return symbols_ ? symbols_->find(address) : std::nullopt;
}

void KernelNames::load() {
  const auto key = folder_.empty() ? Error{Code::kNotFound, "no folder"} : this->key();
  if (key.ok()) {
    const auto bytes = map_cache_file(folder_ + "/" + key.value() + std::string(kEnding));
    auto symbols = bytes.ok() ? decode_kernel_symbols(bytes.value(), key.value()) : bytes.error();
    if (symbols.ok()) {
      symbols_ = std::move(symbols).value();
      from_file_ = true;
      return;
    }
  }
  read_list();
  if (key.ok() && symbols_) store(key.value());
}

void KernelNames::read_list() {
  from_file_ = false;
  auto loaded = KernelSymbols::load(places_.symbols);
  if (loaded.ok())
    symbols_ = std::move(loaded).value();
  else if (!symbols_)
    error_ = std::move(loaded).error();
}

// The boot, and a sum of the modules and where they lie.
Result<std::string> KernelNames::key() const {
  TRY_ASSIGN(std::string boot, read_file(places_.boot_id, 64));
  boot.resize(std::min(boot.find_first_not_of("0123456789abcdef-"), boot.size()));
  if (boot.size() < 16 || boot.size() > 40) return Error{Code::kInvalid, "no boot id"};
  auto modules = read_file(places_.modules);
  // A kernel without modules has no such file.
  if (!modules.ok() && modules.error().code != Code::kNotFound) return modules.error();
  return fmt::format("{}-{:08x}", boot, crc32c(lasting_words(std::move(modules).value_or(""))));
}

// What cannot be stored is read from the kernel next time.
void KernelNames::store(const std::string& key) const {
  const std::string name = key + std::string(kEnding);
  if (store_cache_file(folder_, name, encode_kernel_symbols(*symbols_, key)).ok())
    drop_others(name);
}

// Lists of older boots and other modules: addresses of the past are of no use.
void KernelNames::drop_others(const std::string& name) const {
  DIR* folder = opendir(folder_.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    const std::string_view other = entry->d_name;
    if (other != name && other.find(kEnding) != std::string_view::npos)
      unlinkat(dirfd(folder), entry->d_name, 0);
  }
  closedir(folder);
}

}  // namespace fathom
