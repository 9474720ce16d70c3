// SPDX-License-Identifier: Apache-2.0
// Reads the input as folded stacks. What is read at once and line by line must agree: as many
// lines, and the same sum of counts.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "base/fd.h"
#include "import/folded_reader.h"

namespace fathom {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "folded_fuzz: %s\n", what);
  std::abort();
}

void check(const std::string& path) {
  SampleSums sums;
  const auto counts = read_folded(path, sums);
  int64_t lines = 0;
  double weight = 0;
  const Status each = each_folded_line(path, [&](std::string_view, const auto& line) {
    if (!line) return;
    ++lines;
    weight += static_cast<double>(line->count);
  });
  require(each.ok() || !counts.ok(), "a file is read, and its lines are not");
  if (!counts.ok()) return;
  int64_t sum = 0;
  for (const SampleSum& row : sums.sums()) {
    require(row.stack < sums.stacks().size(), "a stack that is not there");
    sum += row.weight;
  }
  require(lines == counts.value().lines, "another number of lines");
  require(static_cast<double>(sum) == weight, "another sum of counts");
  for (uint32_t i = 1; i < sums.stacks().size(); ++i)
    require(sums.stacks()[i].parent < i, "a caller comes after its callee");
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fathom;
  const Fd file(memfd_create("folded_fuzz", MFD_CLOEXEC));
  require(write_all(file.get(), {reinterpret_cast<const char*>(data), size}).ok(), "write");
  check("/proc/self/fd/" + std::to_string(file.get()));
  return 0;
}
