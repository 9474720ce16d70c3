// SPDX-License-Identifier: Apache-2.0
// From addresses to frames: user code through the address spaces, kernel code through kallsyms.
// Every address gets a frame. Where a file has no name but it is known where the function starts,
// the symbol is "[file+0x1230]", that start as linked: the same in every run of the same build.
// Elsewhere it is "[unknown]". The module is kept and the miss counted by its reason. Names are
// demangled and made printable here, so that no byte a target chose reaches a report raw. Belongs
// to one thread, with its interner.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "record/dictionary.h"
#include "symbol/address_space.h"
#include "symbol/demangle.h"
#include "symbol/kernel_names.h"
#include "symbol/recent_frames.h"
#include "symbol/source_lines.h"

namespace fathom {

enum class Miss : uint8_t {
  kNoProcess,      // nothing is known of the process, and it is gone
  kNoMapping,      // no code was mapped there
  kNoJitName,      // memory without a file, and no perf map or jitdump names it
  kUnreadable,     // the file could not be opened or is no ELF file
  kNoSymbol,       // the file has no symbol there: it is stripped
  kKernelHidden,   // the kernel does not show its addresses
  kKernelUnknown,  // it does, but none is there
  kCount
};
const char* miss_name(Miss miss);

struct SymbolizerOptions {
  bool demangle = true;
  bool offsets = false;  // "[libx.so+0x12f0]" instead of "[unknown]", where a module is known
  bool lines = false;    // files and lines of user code, and what was inlined, by libdw
  std::string kernel_folder = {};  // keeps the kernel's list for later runs; empty: does not
};

class Symbolizer {
 public:
  explicit Symbolizer(Interner& names, SymbolizerOptions options = {})
      : names_(names),
        options_(std::move(options)),
        spaces_(modules_),
        kernel_(options_.kernel_folder) {
    if (options_.lines) modules_.keep_debug_files();
  }

  // To be fed with what processes map.
  AddressSpaces& spaces() { return spaces_; }
  [[nodiscard]] const ModuleCache& modules() const { return modules_; }

  // Tells where the function around an address (as linked) starts, for files without names.
  using FunctionStart =
      std::function<std::optional<uint64_t>(const Module& module, uint64_t address)>;
  void use_function_starts(FunctionStart starts) {
    function_start_ = std::move(starts);
    recent_.clear();
  }

  // The frame of a sampled instruction. For return addresses ask for address - 1: a call may be
  // the last instruction of its function. A process not known yet is looked up in /proc.
  FrameId user(int64_t pid, uint64_t address, int64_t time_ns = INT64_MAX);
  FrameId kernel(uint64_t address);
  // The same with lines, if they were asked for: the function, then what was inlined into it, each
  // with the line that calls the next. A view until the next call.
  std::span<const FrameId> user_frames(int64_t pid, uint64_t address, int64_t time_ns = INT64_MAX);
  // Whether the last answer holds for that address until the address space changes; names of code
  // compiled at run time may come later.
  [[nodiscard]] bool is_lasting() const { return lasting_; }
  // The interner was emptied: its ids mean nothing any more.
  void forget_ids();

  // Files whose debug information could not be read.
  [[nodiscard]] int64_t without_lines() const { return lines_.given_up(); }

  [[nodiscard]] int64_t found() const { return found_; }
  [[nodiscard]] int64_t missed(Miss miss) const { return missed_[static_cast<size_t>(miss)]; }
  // Why the kernel has no names; nothing if it has, or was not asked for.
  [[nodiscard]] const std::optional<Error>& kernel_error() const { return kernel_.error(); }

 private:
  FrameId look_up(int64_t pid, uint64_t address, int64_t time_ns);
  FrameId of_file(Module& module, uint64_t offset);
  FrameId of_jit(const Place& place, uint64_t address, int64_t time_ns);
  FrameId miss(Miss reason, FrameKind kind, const Module* module, uint64_t offset);
  void add_lines(FrameId function, const std::vector<SourceFrame>& lines,
                 std::vector<FrameId>& frames);
  FrameId unnamed(const Module& module, uint64_t address);
  FrameId named(std::string_view symbol, const Module& module);
  StringId clean(std::string_view text);

  struct ModuleText {
    StringId path{}, build_id{};
  };
  const ModuleText& text_of(const Module& module);

  static constexpr size_t kMaxCached = 1 << 18;
  Interner& names_;
  SymbolizerOptions options_;
  ModuleCache modules_;
  AddressSpaces spaces_;
  Demangler demangler_;
  FunctionStart function_start_;
  RecentFrames recent_;
  SourceLines lines_;
  std::map<std::pair<uint32_t, uint64_t>, std::vector<FrameId>> lined_;  // module id and address
  FrameId only_{};
  std::unordered_map<uint64_t, FrameId> frames_;  // by module id and symbol index
  struct HashOfPlace {
    size_t operator()(const std::pair<uint32_t, uint64_t>& place) const {
      return (place.second ^ uint64_t{place.first} << 48) * 0x9e3779b97f4a7c15;
    }
  };
  // By module id and the function's start.
  std::unordered_map<std::pair<uint32_t, uint64_t>, FrameId, HashOfPlace> unnamed_;
  std::unordered_map<uint32_t, ModuleText> module_texts_;
  std::unordered_map<uint64_t, FrameId> kernel_frames_;  // by start of the function
  KernelNames kernel_;
  bool lasting_ = false;
  int64_t found_ = 0;
  std::array<int64_t, static_cast<size_t>(Miss::kCount)> missed_{};
};

}  // namespace fathom
