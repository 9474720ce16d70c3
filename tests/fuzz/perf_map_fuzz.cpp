// SPDX-License-Identifier: Apache-2.0
// Feeds what a target writes about the code it compiles. Input that starts with the magic of a
// jitdump file is one; all other input is a perf map, fed whole and in pieces, which must agree.
#include <cstdio>
#include <cstdlib>

#include "symbol/jitdump.h"
#include "symbol/perf_map.h"

namespace fathom {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "perf_map_fuzz: %s\n", what);
  std::abort();
}

void check_jitdump(std::string_view bytes) {
  Jitdump dump;
  dump.feed(bytes);
  for (const uint64_t address : {0x1000UL, 0x2000UL, 0x9010UL, ~0UL})
    for (const int64_t time : {int64_t{0}, int64_t{15}, INT64_MAX}) (void)dump.find(address, time);
}

void check_map(std::string_view text) {
  PerfMap whole, pieces;
  whole.feed(text);
  const size_t step = text.empty() ? 1 : 1 + static_cast<unsigned char>(text.front()) % 16;
  for (size_t at = 0; at < text.size(); at += step) pieces.feed(text.substr(at, step));
  require(whole.counts().entries == pieces.counts().entries, "pieces give other entries");
  require(whole.counts().bad_lines == pieces.counts().bad_lines, "pieces give other bad lines");
  for (const uint64_t address : {0UL, 0x1000UL, 0x1010UL, 0x2000UL, ~0UL}) {
    const auto name = whole.find(address);
    require(name == pieces.find(address), "pieces give another name");
    require(!name || name->size() <= PerfMap::kMaxNameLength, "a name is too long");
  }
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("DTiJ"))
    fathom::check_jitdump(bytes);
  else
    fathom::check_map(bytes);
  return 0;
}
