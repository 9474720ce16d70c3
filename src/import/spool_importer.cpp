// SPDX-License-Identifier: Apache-2.0
#include "import/spool_importer.h"

#include <cstring>

#include "spool/cuda_records.h"
#include "spool/spool_reader.h"
#include "spool/spool_records.h"

namespace fathom {
namespace {

// The layer that a family's calls belong to.
std::string layer_of(const SpoolHeader& header) {
  const std::string family(header.family, strnlen(header.family, sizeof header.family));
  return family == "io" ? "c" : family;
}

}  // namespace

bool looks_like_spool(std::string_view start) { return start.starts_with(SPOOL_MAGIC); }

Result<ImportCounts> import_spool(const std::string& path, RecordStream& out) {
  TRY_ASSIGN(const auto reader, SpoolReader::open(path));
  if (reader->is_in_use())
    return Error{Code::kInvalid, "a program is still writing " + path, "end it, or wait for it"};
  const TickClock clock = TickClock::of_spool(reader->header());
  const std::string layer = layer_of(reader->header());
  if (layer == "cuda") {
    CudaRecords calls(out);
    reader->drain(clock, true, calls);
    return ImportCounts{.lines = calls.calls(), .skipped = reader->damaged()};
  }
  SpoolRecords records(out, layer);
  reader->drain(clock, true, records);
  return ImportCounts{.lines = records.calls(), .skipped = reader->damaged()};
}

}  // namespace fathom
