// SPDX-License-Identifier: Apache-2.0
#include "symbol/source_lines.h"

namespace fathom {

std::vector<SourceFrame> SourceLines::find(const Module& module, uint64_t address) {
  Entry& entry = entries_[module.id()];
  LineProcess* process = entry.useless ? nullptr : process_of(module, entry);
  if (process == nullptr) return {};
  auto frames = process->find(address);
  if (frames.ok()) return std::move(frames).value();
  entry.process.reset();
  entry.useless = true;
  --running_;
  ++given_up_;
  return {};
}

LineProcess* SourceLines::process_of(const Module& module, Entry& entry) {
  entry.used = ++clock_;
  if (entry.process != nullptr) return entry.process.get();
  const ElfFile* file = module.file_with_lines();
  if (file != nullptr && dwarf_api().ok()) {
    if (running_ == kMost) end_oldest();
    if (auto started = LineProcess::start(dwarf_api().value(), file->descriptor()); started.ok()) {
      entry.process = std::move(started).value();
      ++running_;
      return entry.process.get();
    }
  }
  entry.useless = true;
  return nullptr;
}

void SourceLines::end_oldest() {
  Entry* oldest = nullptr;
  for (auto& [id, entry] : entries_)
    if (entry.process != nullptr && (oldest == nullptr || entry.used < oldest->used))
      oldest = &entry;
  if (oldest == nullptr) return;
  oldest->process.reset();
  --running_;
}

}  // namespace fathom
