// SPDX-License-Identifier: Apache-2.0
#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>

#include <algorithm>

namespace fathom {
namespace {

constexpr std::string_view kPlt = "@plt";
constexpr std::string_view kCut = "…";

// Names a little longer than the demangler's own limit are common in template code.
constexpr size_t kOwnLimitBytes = 1000;

struct Output {
  jmp_buf full;
  char text[kMaxDemangledBytes];
  size_t size = 0;
};

// libiberty calls this with each piece of the name and cannot be told to stop. It holds no memory
// while it does (its reason to offer callbacks), so jumping out is safe. The one exception is a
// Rust identifier beyond ASCII, which it keeps on the heap: that piece is dropped, and the jump
// waits for the next.
void append(const char* piece, size_t length, void* opaque) {
  auto* output = static_cast<Output*>(opaque);
  const size_t room = sizeof output->text - output->size;
  const size_t taken = std::min(room, length);
  std::copy_n(piece, taken, output->text + output->size);
  output->size += taken;
  if (length <= room) return;
  const bool ascii = std::all_of(piece, piece + length, [](char c) { return c > 0; });
  if (ascii) longjmp(output->full, 1);
}

enum class Outcome { kNo, kYes, kFull };

// No object with a destructor may live here: longjmp passes through.
Outcome run(const char* mangled, size_t length, Output& output) {
  const int options = DMGL_PARAMS | DMGL_ANSI;
  const int limit = length > kOwnLimitBytes ? DMGL_NO_RECURSE_LIMIT : 0;
  if (setjmp(output.full) != 0) return Outcome::kFull;
  if (rust_demangle_callback(mangled, options, append, &output) != 0) return Outcome::kYes;
  output.size = 0;
  if (mangled[1] == 'Z' && cplus_demangle_v3_callback(mangled, options | limit, append, &output))
    return Outcome::kYes;
  return Outcome::kNo;
}

bool looks_mangled(std::string_view name) {
  return name.size() > 3 && name.size() <= kMaxMangledBytes &&
         (name.starts_with("_Z") || name.starts_with("_R"));
}

// Not in the middle of a UTF-8 character.
std::string_view whole_characters(std::string_view text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80)
    text.remove_suffix(1);
  if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string demangle(std::string_view name) {
  const bool stub = name.ends_with(kPlt);
  const std::string base(stub ? name.substr(0, name.size() - kPlt.size()) : name);
  if (!looks_mangled(base)) return std::string(name);
  Output output;
  const Outcome outcome = run(base.c_str(), base.size(), output);
  if (outcome == Outcome::kNo || output.size == 0) return std::string(name);
  std::string text(output.text, output.size);
  if (outcome == Outcome::kFull || output.size == sizeof output.text) {
    text = whole_characters(text);
    text += kCut;
  }
  if (stub) text += kPlt;
  return text;
}

std::string_view Demangler::operator()(std::string_view name) {
  if (!name.starts_with('_')) return name;
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  // Symbols repeat between modules and processes, not for ever: start again instead of growing.
  if (known_.size() >= kMaxKnown) known_.clear();
  return known_.emplace(name, demangle(name)).first->second;
}

}  // namespace fathom
