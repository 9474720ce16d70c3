// SPDX-License-Identifier: Apache-2.0
#include "symbol/module_cache.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <vector>

#include "symbol/debug_file.h"
#include "symbol/target_files.h"

namespace fathom {
namespace {

constexpr size_t kMaxLabels = 256;
constexpr const char* kAnonymous = "[anon]";
constexpr const char* kVdso = "[vdso]";

// Memory that the kernel gives a name although no file that could be read is behind it.
bool is_anonymous(std::string_view path) {
  return path.empty() || path == "//anon" || path.starts_with("/dev/zero") ||
         path.starts_with("/SYSV") || path.starts_with("anon_inode:") ||
         path.starts_with("/anon_hugepage") || path.starts_with("[anon");
}

// Every 64-bit process of a machine has the same vdso, so ours will do.
Result<ElfFile> read_vdso() {
  const auto address = getauxval(AT_SYSINFO_EHDR);
  if (address == 0) return Error{Code::kNotFound, "this process has no vdso"};
  const auto* image = reinterpret_cast<const char*>(address);
  // Its size is not told, but sections come last and their place stands in the header.
  uint64_t sections = 0;
  uint16_t entry_bytes = 0, count = 0;
  std::copy_n(image + 40, sizeof sections, reinterpret_cast<char*>(&sections));
  std::copy_n(image + 58, sizeof entry_bytes, reinterpret_cast<char*>(&entry_bytes));
  std::copy_n(image + 60, sizeof count, reinterpret_cast<char*>(&count));
  return ElfFile::from_memory(std::string(image, sections + uint64_t{entry_bytes} * count));
}

}  // namespace

ModulePtr ModuleCache::find(const MapEvent& event) {
  if (event.path == kVdso) return vdso();
  if (is_anonymous(event.path)) return special(kAnonymous, ModuleKind::kAnonymous);
  if (event.path.front() != '/') return special(event.path, ModuleKind::kAnonymous);
  const Hint hint{event.device, event.inode, event.path};
  const auto found = locate(event);
  if (!found.ok()) {
    // The process is gone. If the same file was seen before, it is that one.
    const auto known = by_hint_.find(hint);
    if (known != by_hint_.end() && event.inode != 0)
      if (ModulePtr module = known->second.lock()) return module;
    return unreadable(event.path, found.error());
  }
  ModulePtr module = of_file(event, found.value());
  if (module->kind() == ModuleKind::kFile) {
    if (by_hint_.size() > 2 * limits_.modules) by_hint_.clear();
    by_hint_[hint] = module;
  }
  return module;
}

ModulePtr ModuleCache::special(const std::string& label, ModuleKind kind) {
  // Names in brackets may be the target's choice (PR_SET_VMA): not more of them than sense.
  const bool full = specials_.size() >= kMaxLabels && !specials_.contains(label);
  ModulePtr& module = specials_[full ? kAnonymous : label];
  if (module == nullptr)
    module = std::make_shared<Module>(next_id_++, kind, full ? kAnonymous : label);
  return module;
}

ModulePtr ModuleCache::vdso() {
  ModulePtr module = special(kVdso, ModuleKind::kVdso);
  if (module->elf_ || module->loaded()) return module;
  if (auto elf = read_vdso(); elf.ok()) {
    module->elf_.emplace(std::move(elf).value());
    module->build_id_ = module->elf_->build_id_hex();
  } else {
    module->symbols_ = std::make_shared<const ElfSymbols>();
  }
  return module;
}

ModulePtr ModuleCache::unreadable(const std::string& path, Error error) {
  ++counts_.unreadable;
  if (unreadables_.size() >= limits_.modules) unreadables_.clear();
  ModulePtr& module = unreadables_[path];
  if (module == nullptr) {
    module = std::make_shared<Module>(next_id_++, ModuleKind::kUnreadable, path);
    module->error_ = std::move(error);
  }
  return module;
}

// A name to the mapped file. When the process is gone the host's file of that path will do if it is
// the very same.
Result<Fd> ModuleCache::locate(const MapEvent& event) const {
  auto found = find_mapped(event.pid, event.start, event.start + event.length, event.path);
  struct stat facts {};
  if (found.ok() && fstat(found.value().get(), &facts) == 0) {
    const bool replaced =
        event.inode != 0 && facts.st_dev == event.device && facts.st_ino != event.inode;
    if (!replaced) return found;
    return Error{Code::kNotFound, event.path + " was replaced since it was mapped"};
  }
  auto ours = open_file(event.path, O_PATH);
  const bool same = ours.ok() && event.inode != 0 && fstat(ours.value().get(), &facts) == 0 &&
                    facts.st_dev == event.device && facts.st_ino == event.inode;
  return same ? std::move(ours) : std::move(found);
}

ModulePtr ModuleCache::of_file(const MapEvent& event, const Fd& found) {
  struct stat facts {};
  if (fstat(found.get(), &facts) != 0) return unreadable(event.path, errno_error("stat"));
  const Identity identity{facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtim.tv_sec,
                          facts.st_mtim.tv_nsec};
  auto at = by_identity_.find(identity);
  if (at == by_identity_.end()) {
    ModulePtr module = open(event, found);
    if (module->kind() != ModuleKind::kFile) return module;
    by_identity_[identity] = {module, ++clock_};
    keep_within_limits();
    return module;
  }
  ++counts_.reused;
  at->second.used = ++clock_;
  return at->second.module;
}

ModulePtr ModuleCache::open(const MapEvent& event, const Fd& found) {
  auto file = open_found(found);
  if (!file.ok()) return unreadable(event.path, std::move(file).error());
  auto elf = ElfFile::from_fd(std::move(file).value());
  if (!elf.ok()) return unreadable(event.path, std::move(elf).error());
  auto module = std::make_shared<Module>(next_id_++, ModuleKind::kFile, event.path);
  module->elf_.emplace(std::move(elf).value());
  module->build_id_ = module->elf_->build_id_hex();
  ++counts_.opened;
  share_symbols(*module);
  module->keeps_debug_ = keeps_debug_;
  const bool for_symbols = !module->loaded() && wants_debug_file(*module->elf_);
  const bool for_lines = keeps_debug_ && !has_lines(*module->elf_);
  if (for_symbols || for_lines) look_for_debug_file(event.pid, *module);
  if (!module->build_id_.empty() && !module->loaded())
    by_build_id_[{module->build_id_, module->elf_->size()}] = module;
  open_.push_back(module);
  return module;
}

void ModuleCache::look_for_debug_file(int64_t pid, Module& module) {
  std::vector<int> roots;
  const auto theirs = open_root_of(pid);
  const auto ours = open_file("/", O_PATH | O_DIRECTORY);
  if (theirs.ok()) roots.push_back(theirs.value().get());
  if (ours.ok()) roots.push_back(ours.value().get());
  auto debug = find_debug_file(*module.elf_, module.path_, roots);
  if (!debug.ok()) return;
  module.debug_.emplace(std::move(debug).value());
  ++counts_.debug_files;
}

// A copy of a file that was read before: the table is one. Equal build ids mean equal addresses.
void ModuleCache::share_symbols(Module& module) {
  const auto known = by_build_id_.find({module.build_id_, module.elf_->size()});
  if (module.build_id_.empty() || known == by_build_id_.end()) return;
  const ModulePtr twin = known->second.lock();
  if (twin == nullptr) return;
  twin->symbols();
  module.symbols_ = twin->symbols_;
  ++counts_.shared_by_build_id;
}

void ModuleCache::keep_within_limits() {
  while (open_.size() > limits_.open_files) {
    if (const ModulePtr oldest = open_.front().lock()) {
      oldest->symbols();  // now or never
      oldest->elf_->close_file();
      oldest->debug_.reset();
    }
    open_.pop_front();
  }
  size_t bytes = 0;
  for (const auto& [identity, kept] : by_identity_)
    if (kept.module.use_count() == 1 && kept.module->loaded())
      bytes += kept.module->symbols_->table.memory_bytes();
  while (by_identity_.size() > limits_.modules || bytes > limits_.symbol_bytes) {
    auto oldest = by_identity_.end();
    for (auto at = by_identity_.begin(); at != by_identity_.end(); ++at)
      if (at->second.module.use_count() == 1 &&
          (oldest == by_identity_.end() || at->second.used < oldest->second.used))
        oldest = at;
    if (oldest == by_identity_.end()) break;  // all in use
    const Module& module = *oldest->second.module;
    if (module.loaded()) bytes -= std::min(bytes, module.symbols_->table.memory_bytes());
    by_identity_.erase(oldest);
  }
  std::erase_if(by_build_id_, [](const auto& entry) { return entry.second.expired(); });
}

}  // namespace fathom
