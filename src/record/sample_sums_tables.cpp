// SPDX-License-Identifier: Apache-2.0
// Samples of Parquet tables added up by DuckDB: what comes over is one row per distinct stack.
#include <fmt/format.h>

#include <filesystem>

#include "record/duck_cells.h"
#include "record/parquet_sql.h"
#include "record/sample_sums.h"

namespace fathom {
namespace {

constexpr int kSumThreads = 2;

FrameKind frame_kind(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(kLastFrameKind); ++i) {
    if (name == frame_kind_name(static_cast<FrameKind>(i))) return static_cast<FrameKind>(i);
  }
  return FrameKind::kUnknown;
}

// The table "stacks", in whatever order its rows come.
class StackRowsRead {
 public:
  StackRowsRead(const SampleRange& range, SampleSums& sums) : range_(range), sums_(sums) {}

  void add(const DuckChunk& chunk, size_t count) {
    const DuckCells ids(chunk, 0), parents(chunk, 1), symbols(chunk, 2), modules(chunk, 3),
        kinds(chunk, 4), files(chunk, 5), lines(chunk, 6);
    Interner& names = sums_.interner();
    for (size_t i = 0; i < count; ++i) {
      const uint64_t id = ids.at<uint64_t>(i);
      if (id == 0 || !index_.insert(id, static_cast<uint32_t>(rows_.size())).second) continue;
      Frame frame{.symbol = names.string(symbols.text(i)),
                  .module = names.string(module_name(modules.text(i))),
                  .kind = frame_kind(kinds.text(i))};
      if (files.has(i)) {
        frame.file = names.string(files.text(i));
        frame.line = static_cast<uint32_t>(lines.at<int64_t>(i));
      }
      rows_.push_back({parents.at<uint64_t>(i), parents.has(i), sums_.frame(frame), kUnplaced});
    }
  }

  [[nodiscard]] size_t count() const { return rows_.size(); }

  // Where the stack of that id is in the sums; nothing: its row or that of a caller is not there.
  std::optional<uint32_t> place(uint64_t id) {
    std::vector<Row*> chain;  // from the leaf up to what has a place already
    uint32_t place = 0;
    for (bool more = true; more;) {
      const uint32_t* number = index_.find(id);
      if (id == 0 || number == nullptr) return std::nullopt;
      Row& row = rows_[*number];
      if (row.place == kOnTheWay) return std::nullopt;  // its own caller
      if (row.place != kUnplaced) {
        place = row.place;
        break;
      }
      row.place = kOnTheWay;
      chain.push_back(&row);
      id = row.parent;
      more = row.has_parent;
    }
    for (auto row = chain.rbegin(); row != chain.rend(); ++row)
      (*row)->place = place = sums_.stack(place, (*row)->frame);
    return place;
  }

 private:
  [[nodiscard]] std::string module_name(std::string_view module) const {
    return range_.module_name ? range_.module_name(module) : std::string(module);
  }

  static constexpr uint32_t kUnplaced = UINT32_MAX;
  static constexpr uint32_t kOnTheWay = UINT32_MAX - 1;
  struct Row {
    uint64_t parent;
    bool has_parent;
    FrameId frame;
    uint32_t place;
  };

  const SampleRange& range_;
  SampleSums& sums_;
  FlatIndex index_;
  std::vector<Row> rows_;
};

class TableSums {
 public:
  TableSums(const Recording& recording, const SampleRange& range, DuckConnection connection,
            SampleSums& sums)
      : recording_(recording),
        range_(range),
        connection_(std::move(connection)),
        sums_(sums),
        stacks_(range_, sums) {}

  Status read() {
    std::error_code ignored;
    if (!std::filesystem::exists(path_of(TableOf<Sample>::kName), ignored)) return {};
    if (std::filesystem::exists(path_of(kStacksName), ignored)) {
      TRY(each_chunk(kStacksName,
                     "SELECT id::UBIGINT, parent::UBIGINT, symbol::VARCHAR, "
                     "module::VARCHAR, kind::VARCHAR, " +
                         std::string(range_.lines ? "file::VARCHAR, line::BIGINT"
                                                  : "NULL::VARCHAR, NULL::BIGINT") +
                         " FROM ",
                     "", [&](const DuckChunk& chunk, size_t count) -> Status {
                       stacks_.add(chunk, count);
                       return {};
                     }));
    }
    const std::string time = range_.each_time ? "time_ns" : "min(time_ns)";
    return each_chunk(
        TableOf<Sample>::kName,
        "SELECT pid::BIGINT, tid::BIGINT, stack::UBIGINT, event::VARCHAR, " + unwind_sql() +
            ", rate_hz::BIGINT, CAST(" + time +
            " AS BIGINT), CAST(sum(weight) AS BIGINT), count(*)::BIGINT, "
            "sum(weight::DOUBLE * weight::DOUBLE) FROM ",
        fmt::format(" WHERE time_ns >= {} AND time_ns < {} GROUP BY ALL", range_.from_ns,
                    range_.to_ns),
        [&](const DuckChunk& chunk, size_t count) { return add_samples(chunk, count); });
  }

  // The table that a reading that failed has to be blamed on.
  [[nodiscard]] const char* blamed() const { return blamed_; }

 private:
  static std::string unwind_sql() {
    return "json_extract_string(detail, " + sql_text("$." + std::string(kUnwindKey)) + ")";
  }

  [[nodiscard]] std::string path_of(const char* table) const {
    std::error_code ignored;
    return std::filesystem::absolute(recording_.table_path(table), ignored).string();
  }

  template <class Visit>
  Status each_chunk(const char* table, const std::string& select, const std::string& rest,
                    Visit visit) {
    const std::string path = path_of(table);
    blamed_ = table;
    TRY(recording_.check_table(table));
    auto result = connection_.query(select + read_parquet_sql(path) + rest);
    if (!result.ok()) return parquet_error(std::move(result).error(), path);
    while (true) {
      auto chunk = result.value().next();
      if (!chunk.ok()) return parquet_error(std::move(chunk).error(), path);
      if (chunk.value().get() == nullptr) return {};
      TRY(visit(chunk.value(), loaded_duck_api().data_chunk_get_size(chunk.value().get())));
    }
  }

  Status add_samples(const DuckChunk& chunk, size_t count) {
    const DuckCells pids(chunk, 0), tids(chunk, 1), stacks(chunk, 2), events(chunk, 3),
        unwinds(chunk, 4), rates(chunk, 5), times(chunk, 6), weights(chunk, 7), counts(chunk, 8),
        squares(chunk, 9);
    Interner& names = sums_.interner();
    for (size_t i = 0; i < count; ++i) {
      const auto stack =
          stacks.has(i) ? stacks_.place(stacks.at<uint64_t>(i)) : std::optional<uint32_t>(0);
      if (!stack) {
        if (!stacks_as_written()) blamed_ = kStacksName;
        return Error{Code::kCorrupt, recording_.table_path(TableOf<Sample>::kName) +
                                         " refers to stacks that " + kStacksName +
                                         ".parquet does not hold"};
      }
      SampleSum sum{.stack = *stack,
                    .event = names.string(events.text(i)),
                    .unwind = names.string(unwinds.text(i)),
                    .rate_hz = static_cast<uint32_t>(rates.at<int64_t>(i)),
                    .time_ns = times.at<int64_t>(i),
                    .weight = weights.at<int64_t>(i),
                    .samples = counts.at<int64_t>(i),
                    .squares = squares.at<double>(i)};
      if (pids.has(i) && tids.has(i))
        sum.thread = names.thread(pids.at<int64_t>(i), tids.at<int64_t>(i));
      sums_.add_sum(sum, range_.each_time);
    }
    return {};
  }

  // Whether there are as many stacks as run.json says; then it is the samples that are wrong.
  [[nodiscard]] bool stacks_as_written() const {
    const auto written = recording_.written_tables().find(kStacksName);
    return written != recording_.written_tables().end() &&
           written->second == static_cast<int64_t>(stacks_.count());
  }

  const Recording& recording_;
  const SampleRange& range_;
  DuckConnection connection_;
  SampleSums& sums_;
  StackRowsRead stacks_;
  const char* blamed_ = TableOf<Sample>::kName;
};

}  // namespace

Status add_sample_tables(const Recording& recording, const SampleRange& range, SampleSums& sums) {
  TRY_ASSIGN(DuckDatabase database, DuckDatabase::open({.threads = kSumThreads}));
  TRY_ASSIGN(DuckConnection connection, DuckConnection::open(database));
  TableSums tables(recording, range, std::move(connection), sums);
  Status read = tables.read();
  if (!read.ok() && read.error().code == Code::kCorrupt) recording.found_damaged(tables.blamed());
  return read;
}

}  // namespace fathom
