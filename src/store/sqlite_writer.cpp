// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_writer.h"

#include <fmt/format.h>

#include "base/text.h"

namespace fathom {

Status SqliteWriter::prepare(Sqlite& sqlite) {
  TRY_ASSIGN(job_, sqlite.prepare("SELECT 1 FROM jobs WHERE id = ?"));
  TRY_ASSIGN(sequence_, sqlite.prepare("SELECT sequence FROM runs WHERE job = ? AND run = ?"));
  TRY_ASSIGN(add_sum_, sqlite.prepare("INSERT INTO sums VALUES (?, ?, ?, ?, ?) "
                                      "ON CONFLICT DO UPDATE SET sum = sum + excluded.sum"));
  TRY_ASSIGN(add_unit_,
             sqlite.prepare("INSERT INTO units VALUES (?, ?, ?) ON CONFLICT DO NOTHING"));
  TRY_ASSIGN(next_row_,
             sqlite.prepare("SELECT coalesce(max(number) + 1, 0) FROM rows WHERE job = ?"));
  TRY_ASSIGN(add_row_, sqlite.prepare("INSERT INTO rows VALUES (?, ?, ?)"));
  TRY_ASSIGN(advance_, sqlite.prepare(
                           "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT DO UPDATE "
                           "SET sequence = ?4, last_ns = ?5"));
  TRY_ASSIGN(gauge_, sqlite.prepare("INSERT OR REPLACE INTO gauges VALUES (?, ?, ?, ?, ?, ?)"));
  TRY_ASSIGN(mark_, sqlite.prepare("INSERT INTO marks(job, time_ns, text) VALUES (?, ?, ?)"));
  TRY_ASSIGN(trim_marks_,
             sqlite.prepare(fmt::format(
                 "DELETE FROM marks WHERE job = ?1 AND id <= (SELECT id FROM marks WHERE job = ?1 "
                 "ORDER BY id DESC LIMIT 1 OFFSET {})",
                 kMostMarks)));
  return {};
}

Result<Applied> SqliteWriter::check(const Change& change) {
  Applied answer;
  TRY_ASSIGN(const bool found, job_.bind(1, change.job).step());
  job_.reset();
  if (!found) {
    answer.how = Applied::How::kNoJob;
    return answer;
  }
  for (const RunAdvance& run : change.runs) {
    TRY_ASSIGN(const bool known, sequence_.bind(1, change.job).bind(2, run.run).step());
    const uint64_t stands = known ? static_cast<uint64_t>(sequence_.number(0)) : 0;
    sequence_.reset();
    if (stands == run.from) continue;
    answer.how = Applied::How::kConflict;
    answer.stands.emplace_back(run.run, stands);
  }
  return answer;
}

Status SqliteWriter::write_runs(const Change& change) {
  for (const RunAdvance& run : change.runs)
    TRY(advance_.bind(1, change.job)
            .bind(2, run.run)
            .bind(3, run.host)
            .bind(4, static_cast<int64_t>(run.to))
            .bind(5, change.time_ns)
            .run());
  return {};
}

Status SqliteWriter::write_rows(const Change& change) {
  if (change.rows.empty()) return {};
  TRY_ASSIGN(const bool found, next_row_.bind(1, change.job).step());
  int64_t number = found ? next_row_.number(0) : 0;
  next_row_.reset();
  for (const std::string& row : change.rows)
    TRY(add_row_.bind(1, change.job).bind(2, number++).bind(3, row).run());
  return {};
}

Status SqliteWriter::write_moments(const Change& change) {
  for (const GaugeValue& gauge : change.gauges)
    TRY(gauge_.bind(1, change.job)
            .bind(2, gauge.scope)
            .bind(3, gauge.name)
            .bind(4, gauge.unit)
            .bind_real(5, gauge.value)
            .bind(6, gauge.time_ns)
            .run());
  for (const MarkText& mark : change.marks)
    TRY(mark_.bind(1, change.job).bind(2, mark.time_ns).bind(3, mark.text).run());
  if (!change.marks.empty()) TRY(trim_marks_.bind(1, change.job).run());
  return {};
}

Status SqliteWriter::write(const Change& change) {
  for (const SumDelta& sum : change.sums) {
    const SumName name = split_sum_key(sum.key);
    auto added = add_sum_.bind(1, change.job)
                     .bind(2, name.symbol)
                     .bind(3, name.program)
                     .bind(4, name.event)
                     .bind(5, sum.delta)
                     .run();
    if (added.ok()) continue;
    if (added.error().code != Code::kInvalid) return added;
    return Error{Code::kInvalid, fmt::format("the sum of {} of {} would be beyond 64 bits",
                                             printable(name.event), printable(name.symbol))};
  }
  for (const auto& [event, unit] : change.units)
    TRY(add_unit_.bind(1, change.job).bind(2, event).bind(3, unit).run());
  TRY(write_rows(change));
  TRY(write_moments(change));
  return write_runs(change);
}

Result<Applied> SqliteWriter::apply(Sqlite& sqlite, const Change& change) {
  TRY_ASSIGN(Applied answer, check(change));
  if (answer.how != Applied::How::kApplied) return answer;
  TRY(sqlite.execute("SAVEPOINT change"));
  auto written = write(change);
  if (written.ok()) {
    TRY(sqlite.execute("RELEASE change"));
    return answer;
  }
  TRY(sqlite.execute("ROLLBACK TO change; RELEASE change"));
  if (written.error().code != Code::kInvalid) return std::move(written).error();
  answer.how = Applied::How::kRefused;
  answer.why = written.error().message;
  return answer;
}

}  // namespace fathom
