// SPDX-License-Identifier: Apache-2.0
#include "import/spool_importer.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

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

Result<ImportCounts> import_one(const std::string& path, RecordStream& out) {
  TRY_ASSIGN(const auto reader, SpoolReader::open(path));
  if (reader->is_in_use())
    return Error{Code::kInvalid, "a program is still writing " + path, "end it, or wait for it"};
  const TickClock clock = TickClock::of_spool(reader->header());
  const std::string layer = layer_of(reader->header());
  if (layer == "cuda") {
    CudaRecords calls(out, true);
    reader->drain(clock, true, calls);
    calls.join(true);
    return ImportCounts{.lines = calls.calls(), .skipped = reader->damaged()};
  }
  SpoolRecords records(out, layer);
  reader->drain(clock, true, records);
  return ImportCounts{.lines = records.calls(), .skipped = reader->damaged()};
}

Result<ImportCounts> import_all(const std::string& path, RecordStream& out) {
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) return import_one(path, out);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
    if (entry.path().extension() == ".spool") files.push_back(entry.path());
  }
  if (files.empty())
    return Error{Code::kNotFound, path + " holds no spool",
                 "libfathom-io.so leaves them in profile.pfw.spools when a program is killed"};
  std::sort(files.begin(), files.end());
  ImportCounts all;
  for (const std::string& file : files) {
    TRY_ASSIGN(const ImportCounts counts, import_one(file, out));
    all.lines += counts.lines;
    all.skipped += counts.skipped;
  }
  return all;
}

}  // namespace

bool looks_like_spool(std::string_view start) { return start.starts_with(SPOOL_MAGIC); }

Result<ImportCounts> import_spool(const std::string& path, RecordStream& out) {
  ImportCounts times;
  out.observe([&](const Rows& rows, const Dictionary&) {
    for (const Span& span : rows.of<Span>())
      times.add_time(span.start_ns, span.start_ns + span.duration_ns);
    for (const Counter& counter : rows.of<Counter>())
      times.add_time(counter.slice_ns, counter.slice_ns + counter.slice_length_ns);
  });
  auto counts = import_all(path, out);
  out.flush();
  out.observe({});
  if (!counts.ok()) return counts;
  counts.value().range = times.range;
  counts.value().has_real_time = true;
  return counts;
}

}  // namespace fathom
