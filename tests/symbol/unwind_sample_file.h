// SPDX-License-Identifier: Apache-2.0
// What the workload unwind_samples wrote: samples with the truth beside them, and the modules that
// were mapped, as an address space to unwind in. One thread.
#pragma once

#include <fmt/format.h>
#include <sys/auxv.h>

#include <cinttypes>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "symbol/elf_file.h"
#include "symbol/module_cache.h"
#include "symbol/unwind_sections.h"
#include "symbol/unwinder.h"

namespace fathom {

struct TruthSample {
  UnwindRegisters registers;
  std::vector<uint64_t> truth;  // innermost first
  StackCopy copy;
};

// Views into `bytes`, which must live as long.
inline std::vector<TruthSample> parse_samples(const std::string& bytes) {
  std::vector<TruthSample> samples;
  CfiCursor in({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  while (!in.done()) {
    TruthSample sample;
    for (unsigned i = 0; i < unwind_arch::kRegisters; ++i)
      sample.registers.set(i, in.number<uint64_t>());
    sample.truth.resize(in.number<uint64_t>());
    for (uint64_t& address : sample.truth) address = in.number<uint64_t>();
    sample.copy.address = in.number<uint64_t>();
    sample.copy.bytes = in.take(in.number<uint64_t>());
    if (!in.ok()) break;
    samples.push_back(std::move(sample));
  }
  return samples;
}

// The image of this process's vdso: the same in every process.
inline std::string vdso_image() {
  const auto* start = reinterpret_cast<const char*>(getauxval(AT_SYSINFO_EHDR));
  return start == nullptr ? std::string() : std::string(start, 2 * 4096);
}

class MappedModules : public UnwindModules {
 public:
  // From the text of /proc/PID/maps. Files that cannot be read are code without a table.
  explicit MappedModules(const std::string& maps) {
    for (size_t at = 0; at < maps.size();) {
      const size_t end = std::min(maps.find('\n', at), maps.size());
      add_line(maps.substr(at, end - at));
      at = end + 1;
    }
  }

  UnwindModule find(uint64_t address) override {
    ++finds;
    const auto after = modules_.upper_bound(address);
    if (after == modules_.begin()) return {};
    const UnwindModule& module = std::prev(after)->second;
    return address < module.end ? module : UnwindModule();
  }
  size_t read_code(uint64_t address, std::span<uint8_t> to) override {
    const auto after = modules_.upper_bound(address);
    if (after == modules_.begin() || address >= std::prev(after)->second.end) return 0;
    const auto& [start, module] = *std::prev(after);
    const auto elf = ElfFile::open(names_[start]);
    const uint64_t offset = offsets_[start] + (address - start);
    return elf.ok() && elf.value().read_into(offset, to.data(), to.size()).ok() ? to.size() : 0;
  }
  [[nodiscard]] const auto& tables() const { return tables_; }
  // As a session would be told of them.
  [[nodiscard]] std::vector<MapEvent> events(int64_t pid) const {
    std::vector<MapEvent> events;
    for (const auto& [start, module] : modules_)
      events.push_back({.pid = pid,
                        .start = start,
                        .length = module.end - start,
                        .file_offset = offsets_.at(start),
                        .path = names_.at(start)});
    return events;
  }
  [[nodiscard]] const auto& biases() const { return biases_; }

  uint64_t finds = 0;

 private:
  void add_line(const std::string& line) {
    uint64_t start = 0, end = 0, offset = 0;
    char access[5] = "";
    int name_at = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start,
                    &end, access, &offset, &name_at) < 4 ||
        access[2] != 'x')
      return;
    const std::string name = line.substr(static_cast<size_t>(name_at));
    UnwindModule module = {start, end, nullptr, 0};
    auto elf = name == "[vdso]" ? ElfFile::from_memory(vdso_image()) : ElfFile::open(name);
    if (elf.ok()) {
      if (!tables_.contains(name)) {
        auto table = unwind_table_of(elf.value());
        if (table.ok()) tables_[name] = std::make_unique<UnwindTable>(std::move(table).value());
      }
      const auto linked = elf.value().address_of_offset(offset);
      if (linked && tables_.contains(name)) {
        module.table = tables_[name].get();
        module.bias = biases_[name] = start - *linked;
      }
    }
    modules_[start] = module;
    names_[start] = name;
    offsets_[start] = offset;
  }

  std::map<uint64_t, UnwindModule> modules_;
  std::map<uint64_t, std::string> names_;
  std::map<uint64_t, uint64_t> offsets_;
  std::map<std::string, uint64_t> biases_;
  std::map<std::string, std::unique_ptr<UnwindTable>> tables_;
};

}  // namespace fathom
