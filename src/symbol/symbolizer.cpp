// SPDX-License-Identifier: Apache-2.0
#include "symbol/symbolizer.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr const char* kUnknown = "[unknown]";
constexpr const char* kJit = "[jit]";
constexpr const char* kKernel = "[kernel]";

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

const char* miss_name(Miss miss) {
  static constexpr std::array<const char*, static_cast<size_t>(Miss::kCount)> kNames = {
      "process unknown",         "nothing mapped", "compiled code without a perf map",
      "file unreadable",         "no symbol",      "kernel addresses hidden",
      "not in the kernel's list"};
  return miss < Miss::kCount ? kNames[static_cast<size_t>(miss)] : "?";
}

FrameId Symbolizer::user(int64_t pid, uint64_t address, int64_t time_ns) {
  if (KernelSymbols::is_kernel_address(address)) return kernel(address);
  const uint32_t space = spaces_.version(pid);
  RecentFrames::Entry& recent = recent_.at(space, address);
  if (space != 0 && recent.space == space && recent.address == address) {
    lasting_ = true;
    ++(recent.named ? found_ : missed_[static_cast<size_t>(Miss::kNoSymbol)]);
    return recent.frame;
  }
  const int64_t found_before = found_;
  const FrameId frame = look_up(pid, address, time_ns);
  if (lasting_) recent = {address, space, frame, found_ > found_before};
  return frame;
}

FrameId Symbolizer::look_up(int64_t pid, uint64_t address, int64_t time_ns) {
  lasting_ = false;
  Place place = spaces_.find(pid, address, time_ns);
  // Mapped before its events were asked for: so it was there then, too.
  if (place.found == Place::Found::kNoProcess && spaces_.attach(pid, 0).ok())
    place = spaces_.find(pid, address, time_ns);
  if (place.found == Place::Found::kNoProcess)
    return miss(Miss::kNoProcess, FrameKind::kNative, nullptr, address);
  if (place.found == Place::Found::kNoMapping)
    return miss(Miss::kNoMapping, FrameKind::kNative, nullptr, address);
  switch (place.module->kind()) {
    case ModuleKind::kFile:
    case ModuleKind::kVdso:
      return of_file(*place.module, place.file_offset);
    case ModuleKind::kAnonymous:
    case ModuleKind::kUnreadable:  // some compile into memory that has a name, such as memfd
      break;
  }
  return of_jit(place, address, time_ns);
}

std::span<const FrameId> Symbolizer::user_frames(int64_t pid, uint64_t address, int64_t time_ns) {
  only_ = user(pid, address, time_ns);
  const std::span<const FrameId> one(&only_, 1);
  if (!options_.lines || !lasting_) return one;
  const Place place = spaces_.find(pid, address, time_ns);
  if (place.found != Place::Found::kYes || place.module->kind() != ModuleKind::kFile) return one;
  const auto linked = place.module->address_of_offset(place.file_offset);
  if (!linked) return one;
  if (lined_.size() >= kMaxCached) lined_.clear();
  auto [at, added] = lined_.try_emplace({place.module->id(), *linked});
  if (added) add_lines(only_, lines_.find(*place.module, *linked), at->second);
  return at->second;
}

void Symbolizer::add_lines(FrameId function, const std::vector<SourceFrame>& lines,
                           std::vector<FrameId>& frames) {
  Frame frame = names_.dictionary().frames[index_of(function)];
  for (const SourceFrame& line : lines) {
    if (&line != &lines.front()) {
      frame.symbol = line.name.empty()
                         ? names_.string(kUnknown)
                         : clean(options_.demangle ? demangler_(line.name) : line.name);
      frame.kind = FrameKind::kInlined;
    }
    frame.file = line.file.empty() ? StringId{} : clean(line.file);
    frame.line = line.line;
    frames.push_back(names_.frame(frame));
  }
  if (frames.empty()) frames.push_back(function);
}

FrameId Symbolizer::of_file(Module& module, uint64_t offset) {
  lasting_ = true;
  const auto address = module.address_of_offset(offset);
  const SymbolTable& table = module.symbols().table;
  const uint32_t index = address ? table.find_index(*address) : SymbolTable::kNone;
  if (index == SymbolTable::kNone && address) return unnamed(module, *address);
  if (index == SymbolTable::kNone)
    return miss(Miss::kNoSymbol, FrameKind::kNative, &module, offset);
  ++found_;
  const uint64_t key = uint64_t{module.id()} << 32 | index;
  if (const auto known = frames_.find(key); known != frames_.end()) return known->second;
  if (frames_.size() >= kMaxCached) frames_.clear();
  const FrameId frame = named(table.at(index).name, module);
  frames_.emplace(key, frame);
  return frame;
}

FrameId Symbolizer::unnamed(const Module& module, uint64_t address) {
  const auto start = function_start_ ? function_start_(module, address) : std::nullopt;
  if (!start) return miss(Miss::kNoSymbol, FrameKind::kNative, &module, address);
  ++missed_[static_cast<size_t>(Miss::kNoSymbol)];
  if (unnamed_.size() >= kMaxCached) unnamed_.clear();
  FrameId& known = unnamed_[{module.id(), *start}];
  if (known == FrameId::kNone)
    known = named(fmt::format("[{}+{:#x}]", base_name(module.path()), *start), module);
  return known;
}

FrameId Symbolizer::of_jit(const Place& place, uint64_t address, int64_t time_ns) {
  const auto name = place.jit->find(address, time_ns);
  if (!name) {
    const bool file = place.module->kind() == ModuleKind::kUnreadable;
    return miss(file ? Miss::kUnreadable : Miss::kNoJitName, FrameKind::kNative, place.module,
                place.file_offset);
  }
  ++found_;
  Frame frame;
  frame.symbol = clean(*name);
  frame.module = names_.string(kJit);
  frame.kind = FrameKind::kNative;
  return names_.frame(frame);
}

FrameId Symbolizer::named(std::string_view symbol, const Module& module) {
  const ModuleText& text = text_of(module);
  Frame frame;
  frame.symbol = clean(options_.demangle ? demangler_(symbol) : symbol);
  frame.module = text.path;
  frame.build_id = text.build_id;
  frame.kind = FrameKind::kNative;
  return names_.frame(frame);
}

FrameId Symbolizer::miss(Miss reason, FrameKind kind, const Module* module, uint64_t offset) {
  ++missed_[static_cast<size_t>(reason)];
  Frame frame;
  frame.kind = kind;
  if (module != nullptr) {
    const ModuleText& text = text_of(*module);
    frame.module = text.path;
    frame.build_id = text.build_id;
  }
  // Not for memory without a file: its addresses mean nothing in the next run.
  const bool offset_says =
      options_.offsets && module != nullptr && module->kind() != ModuleKind::kAnonymous;
  frame.symbol = offset_says ? clean(fmt::format("[{}+{:#x}]", base_name(module->path()), offset))
                             : names_.string(kUnknown);
  return names_.frame(frame);
}

FrameId Symbolizer::kernel(uint64_t address) {
  lasting_ = true;
  const auto symbol = kernel_.find(address);
  if (!symbol) {
    ++missed_[static_cast<size_t>(kernel_error() ? Miss::kKernelHidden : Miss::kKernelUnknown)];
    Frame frame;
    frame.symbol = names_.string(kUnknown);
    frame.module = names_.string(kKernel);
    frame.kind = FrameKind::kKernel;
    return names_.frame(frame);
  }
  ++found_;
  FrameId& known = kernel_frames_[symbol->start];
  if (known == FrameId::kNone) {
    Frame frame;
    frame.symbol = clean(symbol->name);
    frame.module = clean(symbol->module);
    frame.kind = FrameKind::kKernel;
    known = names_.frame(frame);
  }
  return known;
}

void Symbolizer::forget_ids() {
  frames_.clear();
  unnamed_.clear();
  recent_.clear();
  lined_.clear();
  module_texts_.clear();
  kernel_frames_.clear();
}

StringId Symbolizer::clean(std::string_view text) { return names_.string(printable(text)); }

const Symbolizer::ModuleText& Symbolizer::text_of(const Module& module) {
  if (module_texts_.size() >= kMaxCached) module_texts_.clear();
  auto [at, added] = module_texts_.try_emplace(module.id());
  if (added) {
    at->second.path = clean(module.path());
    if (!module.build_id().empty()) at->second.build_id = names_.string(module.build_id());
  }
  return at->second;
}

}  // namespace fathom
