// SPDX-License-Identifier: Apache-2.0
// Reads the input as what a target changed in a spool: pairs of a place and a byte over a right
// one, so that mutations reach what lies behind the checks of the head.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../support/spool_maker.h"
#include "base/fd.h"
#include "spool/spool_reader.h"

namespace fathom {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "spool_fuzz: %s\n", what);
  std::abort();
}

struct Checked final : SpoolListener {
  void on_call(const SpoolCall& call) override {
    require(call.duration_ns >= 0 && call.self_ns >= 0, "a negative time");
    require(call.self_ns <= call.duration_ns, "more self time than time");
    require(!call.has_bytes || call.value >= 0, "a negative size");
  }
  void on_cell(const SpoolCell& cell) override {
    require(cell.count > 0 && cell.bytes >= 0 && cell.errors >= 0, "a negative sum");
    require(cell.self_ns <= cell.time_ns, "more self time than time");
  }
};

SpoolMaker right_one() {
  SpoolMaker spool;
  spool.name(1, "/a");
  spool.thread(7, 8);
  auto& call = spool.add<SpoolShortCallRecord>(kSpoolShortCall);
  call.file = 1;
  spool.add<SpoolCallRecord>(kSpoolCall);
  spool.small({1, 7, 1, 3, 4});
  spool.add<SpoolCellRecord>(kSpoolCell).count = 3;
  spool.chunk(0).next = 3;
  spool.chunk(2).first = sizeof(SpoolChunk);
  spool.go_to(2, sizeof(SpoolChunk));
  spool.add<SpoolShortCallRecord>(kSpoolShortCall);
  return spool;
}

// The places worth changing: the head, and the start of each chunk.
size_t place_of(uint16_t number) {
  constexpr size_t kHead = 1024, kPart = 512;
  if (number < kHead) return number;
  const size_t chunk = (number - kHead) / kPart % SpoolMaker::kChunks;
  return kSpoolHeaderBytes + chunk * kSpoolChunkBytes + (number - kHead) % kPart;
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fathom;
  static const SpoolMaker kRight = right_one();
  static const int kFile = memfd_create("spool", 0);
  std::string bytes(kRight.bytes());
  for (size_t i = 0; i + 3 <= size; i += 3) {
    uint16_t number = 0;
    std::memcpy(&number, data + i, sizeof number);
    bytes[place_of(number)] = static_cast<char>(data[i + 2]);
  }
  if (ftruncate(kFile, 0) != 0 || lseek(kFile, 0, SEEK_SET) != 0) return 0;
  if (!write_all(kFile, bytes).ok()) return 0;
  auto reader = SpoolReader::open(Fd(dup(kFile)), "spool");
  if (!reader.ok()) return 0;
  Checked checked;
  for (const bool all : {false, true})
    reader.value()->drain(TickClock::of_spool(reader.value()->header()), all, checked);
  return 0;
}
