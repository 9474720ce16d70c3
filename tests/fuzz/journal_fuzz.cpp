// SPDX-License-Identifier: Apache-2.0
// Opens the input as a journal and reads all of it. Every byte must be in a whole frame, the header
// or the counts of damage.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/fd.h"
#include "record/journal.h"

namespace fathom {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "journal_fuzz: %s\n", what);
  std::abort();
}

void check(const JournalReader& journal) {
  const JournalHealth opened = journal.health();
  int64_t bytes = opened.torn_bytes + opened.damaged_bytes;
  bytes += std::min(opened.file_bytes, static_cast<int64_t>(kJournalHeaderBytes));
  for (const JournalReader::Entry& entry : journal.entries()) {
    bytes += static_cast<int64_t>(kFrameHeaderBytes + entry.header.payload_bytes);
    const auto batch = journal.read(entry);
    require(batch.ok(), "a frame is neither read nor stepped over");
  }
  require(bytes == opened.file_bytes, "bytes that are counted nowhere, or twice");
  require(opened.frames == static_cast<int64_t>(journal.entries().size()), "frames miscounted");
  const JournalHealth read = journal.health();
  require(read.damaged_places - opened.damaged_places == opened.frames - read.frames,
          "a frame without sense is not counted as damage");
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fathom;
  const Fd file(memfd_create("journal_fuzz", MFD_CLOEXEC));
  require(write_all(file.get(), {reinterpret_cast<const char*>(data), size}).ok(), "write");
  const auto journal = JournalReader::open("/proc/self/fd/" + std::to_string(file.get()));
  if (journal.ok()) check(journal.value());
  return 0;
}
