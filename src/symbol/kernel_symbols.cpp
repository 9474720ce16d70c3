// SPDX-License-Identifier: Apache-2.0
#include "symbol/kernel_symbols.h"

#include <algorithm>
#include <charconv>

#include "base/fd.h"
#include "base/privilege.h"
#include "base/scan.h"

namespace fathom {
namespace {

// Sizes are not told: a symbol reaches to the next one, but no function is this long.
constexpr uint64_t kLongestFunction = 1 << 20;
constexpr size_t kMaxLineBytes = 4096;
constexpr size_t kEnoughBytes = 32768;  // to see whether addresses are shown

// Ends of regions; what follows them is not theirs.
bool is_boundary(std::string_view name) {
  return name == "_etext" || name == "_einittext" || name == "__end_rodata";
}

// Which of two names of one address says more.
int rank(std::string_view name) {
  if (is_boundary(name)) return -2;
  if (name.starts_with("__pfx_") || name == "_text" || name == "_stext") return -1;
  return 8 - static_cast<int>(std::min<size_t>(name.find_first_not_of('_'), 8));
}

bool is_all_zeros(std::string_view text) {
  while (const auto line = take_line(text))
    if (!text.empty() && !line->starts_with("0000000000000000 ")) return false;
  return true;
}

Error hidden() {
  return Error{Code::kPermission, "kernel symbols: the kernel hides its addresses"}.with_hint(
      unlock_hint("sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1", "SYSLOG"));
}

}  // namespace

class KernelSymbols::Reader {
 public:
  explicit Reader(std::string_view text) {
    kept_.names.reserve(text.size() / 2);
    while (const auto line = take_line(text)) add_line(*line);
  }

  Result<KernelSymbols> symbols() && {
    if (kept_.entries.empty()) {
      if (hidden_ == 0) return Error{Code::kNotFound, "kernel symbols: the list is empty"};
      return hidden();
    }
    settle();
    auto kept = std::make_shared<const Kept>(std::move(kept_));
    KernelSymbols symbols;
    symbols.entries_ = kept->entries;
    symbols.names_ = kept->names;
    symbols.keeper_ = std::move(kept);
    symbols.modules_ = std::move(modules_);
    return symbols;
  }

 private:
  struct Kept {
    std::vector<Entry> entries;
    std::string names;
  };

  void add_line(std::string_view line);
  uint16_t module_index(std::string_view name);
  void settle();

  Kept kept_;
  std::vector<std::string> modules_{"[kernel]"};
  uint16_t last_module_ = 0;
  int64_t hidden_ = 0;  // lines without an address
};

Result<KernelSymbols> KernelSymbols::load(const std::string& path) {
  // Writing the whole list takes the kernel 50 ms, even if it writes nothing but zeros.
  const auto start = read_start(path, kEnoughBytes);
  if (start.ok() && start.value().size() == kEnoughBytes && is_all_zeros(start.value()))
    return hidden();
  auto text = read_file(path);
  if (!text.ok()) return std::move(text).error().within("kernel symbols");
  return parse(text.value());
}

Result<KernelSymbols> KernelSymbols::parse(std::string_view text) { return Reader(text).symbols(); }

// "ffffffff81000000 T name" and, for modules, "\t[module]".
void KernelSymbols::Reader::add_line(std::string_view line) {
  if (line.size() > kMaxLineBytes) return;
  uint64_t start = 0;
  const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), start, 16);
  if (failed != std::errc()) return;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  if (line.size() < 4 || line[0] != ' ' || line[2] != ' ') return;
  const char type = line[1];
  line.remove_prefix(3);
  if (start == 0) ++hidden_;
  const bool text = type == 't' || type == 'T' || type == 'w' || type == 'W';
  if (!text || !is_kernel_address(start)) return;
  const std::string_view name = take_word(line);
  skip_blanks(line);
  if (name.empty()) return;
  const uint16_t module = line.empty() ? uint16_t{0} : module_index(line);
  kept_.entries.push_back({.start = start,
                           .name = static_cast<uint32_t>(kept_.names.size()),
                           .length = static_cast<uint16_t>(name.size()),
                           .module = module});
  kept_.names += name;
}

uint16_t KernelSymbols::Reader::module_index(std::string_view name) {
  if (modules_[last_module_] == name) return last_module_;
  auto found = std::ranges::find(modules_, name);
  if (found == modules_.end()) {
    if (modules_.size() > 4096) return 0;
    found = modules_.insert(found, std::string(name));
  }
  last_module_ = static_cast<uint16_t>(found - modules_.begin());
  return last_module_;
}

void KernelSymbols::Reader::settle() {
  std::ranges::stable_sort(kept_.entries, {}, &Entry::start);
  const auto name = [this](const Entry& entry) {
    return std::string_view(kept_.names).substr(entry.name, entry.length);
  };
  size_t kept = 0;
  for (const Entry& entry : kept_.entries) {
    if (kept > 0 && kept_.entries[kept - 1].start == entry.start) {
      if (rank(name(entry)) > rank(name(kept_.entries[kept - 1]))) kept_.entries[kept - 1] = entry;
    } else {
      kept_.entries[kept++] = entry;
    }
  }
  kept_.entries.resize(kept);
  kept_.entries.shrink_to_fit();
  kept_.names.shrink_to_fit();
}

std::optional<KernelSymbol> KernelSymbols::find(uint64_t address) const {
  const auto above = std::ranges::upper_bound(entries_, address, {}, &Entry::start);
  if (above == entries_.begin()) return std::nullopt;
  const Entry& entry = *(above - 1);
  const auto name = names_.substr(entry.name, entry.length);
  if (address - entry.start >= kLongestFunction || is_boundary(name)) return std::nullopt;
  return KernelSymbol{.name = name, .module = modules_[entry.module], .start = entry.start};
}

bool KernelSymbols::surely_covers(uint64_t address) const {
  const auto above = std::ranges::upper_bound(entries_, address, {}, &Entry::start);
  return above != entries_.begin() && above != entries_.end() &&
         (above - 1)->module == above->module;
}

// For lists that were read from a file of ours.
bool KernelSymbols::is_sound() const {
  uint64_t last = 0;
  for (const Entry& entry : entries_) {
    if (entry.start <= last || entry.module >= modules_.size() ||
        uint64_t{entry.name} + entry.length > names_.size())
      return false;
    last = entry.start;
  }
  return true;
}

size_t KernelSymbols::memory_bytes() const { return entries_.size_bytes() + names_.size(); }

}  // namespace fathom
