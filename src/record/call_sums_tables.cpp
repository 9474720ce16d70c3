// SPDX-License-Identifier: Apache-2.0
// Spans of Parquet tables as calls: rows have no order there, so DuckDB sorts them by their ends,
// and on disk where there are many.
#include <filesystem>

#include "record/call_sums.h"
#include "record/duck_cells.h"
#include "record/sql.h"

namespace fathom {
namespace {

constexpr int64_t kMostMemory = int64_t{1} << 30;  // for sorting; the rest goes to disk

constexpr const char* kSpansByEnd =
    "SELECT pid::BIGINT, tid::BIGINT, layer::VARCHAR, name::VARCHAR, file::VARCHAR, "
    "start_ns::BIGINT, duration_ns::BIGINT, bytes::BIGINT, result::BIGINT FROM spans "
    "ORDER BY start_ns::HUGEINT + greatest(duration_ns, 0), start_ns DESC";

void add_chunk(const DuckChunk& chunk, const CallRange& range, CallSums& sums) {
  const DuckCells pids(chunk, 0), tids(chunk, 1), layers(chunk, 2), names(chunk, 3),
      files(chunk, 4), starts(chunk, 5), durations(chunk, 6), bytes(chunk, 7), results(chunk, 8);
  Interner& to = sums.interner();
  const size_t count = loaded_duck_api().data_chunk_get_size(chunk.get());
  for (size_t i = 0; i < count; ++i) {
    Span span;
    span.start_ns = starts.at<int64_t>(i);
    span.duration_ns = durations.at<int64_t>(i);
    if (pids.has(i) && tids.has(i))
      span.thread = to.thread(pids.at<int64_t>(i), tids.at<int64_t>(i));
    span.layer = to.string(layers.text(i));
    span.name = to.string(names.text(i));
    span.file = to.string(files.text(i));
    if (bytes.has(i)) span.bytes = bytes.at<int64_t>(i);
    if (results.has(i)) span.result = results.at<int64_t>(i);
    sums.add_span(span, range);
  }
}

}  // namespace

Status add_span_tables(const Recording& recording, const CallRange& range, CallSums& sums) {
  std::error_code ignored;
  if (!std::filesystem::exists(recording.table_path(TableOf<Span>::kName), ignored)) return {};
  TRY_ASSIGN(const auto session, SqlSession::open({recording}, kMostMemory));
  TRY_ASSIGN(SqlRows rows, session->query(kSpansByEnd));
  while (true) {
    TRY_ASSIGN(const DuckChunk chunk, rows.result.next());
    if (chunk.get() == nullptr) return {};
    add_chunk(chunk, range, sums);
  }
}

}  // namespace fathom
