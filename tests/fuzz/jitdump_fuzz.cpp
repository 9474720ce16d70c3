// SPDX-License-Identifier: Apache-2.0
// Reads the input as a jitdump file, at once and while it grows. Both must agree: how much of a
// file was there at each reading must not change what it says.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "base/fd.h"
#include "symbol/jitdump.h"

namespace fathom {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "jitdump_fuzz: %s\n", what);
  std::abort();
}

bool equal(const Jitdump::Counts& left, const Jitdump::Counts& right) {
  return left.loads == right.loads && left.moves == right.moves && left.refused == right.refused &&
         left.closed == right.closed && left.damaged == right.damaged;
}

void check(std::string_view bytes) {
  const Fd file(memfd_create("jitdump_fuzz", MFD_CLOEXEC));
  require(file.valid(), "no file");
  Fd reader(fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  auto grown = Jitdump::from_file(std::move(reader));
  if (!grown.ok()) return;
  const size_t step = bytes.empty() ? 1 : 1 + static_cast<uint8_t>(bytes.back());
  for (size_t at = 0; at < bytes.size(); at += step) {
    require(write_all(file.get(), bytes.substr(at, step)).ok(), "write");
    if (!grown.value().refresh().ok()) return;
  }
  Jitdump whole;
  whole.feed(bytes);
  require(equal(whole.counts(), grown.value().counts()), "a growing file has other records");
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x1000}, uint64_t{0x1010}, uint64_t{0x9010},
                                 uint64_t{0x5000}, UINT64_MAX}) {
    for (const int64_t time_ns : {int64_t{0}, int64_t{15}, int64_t{25}, INT64_MAX})
      require(whole.find(address, time_ns) == grown.value().find(address, time_ns),
              "a growing file has other names");
  }
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fathom::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
