// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_schema.h"

#include <fmt/format.h>

#include <array>

namespace fathom {
namespace {

// Step i makes version i + 1 of version i. What was released is never changed, only added to.
constexpr std::array kSteps = {
    R"sql(
CREATE TABLE jobs(id INTEGER PRIMARY KEY, description TEXT NOT NULL, labels TEXT NOT NULL,
                  created_ns INTEGER NOT NULL);
CREATE TABLE sums(job INTEGER NOT NULL, symbol TEXT NOT NULL, program TEXT NOT NULL,
                  event TEXT NOT NULL, sum INTEGER NOT NULL CHECK (typeof(sum) = 'integer'),
                  PRIMARY KEY (job, symbol, program, event)) WITHOUT ROWID;
CREATE TABLE units(job INTEGER NOT NULL, event TEXT NOT NULL, unit TEXT NOT NULL,
                   PRIMARY KEY (job, event)) WITHOUT ROWID;
CREATE TABLE rows(job INTEGER NOT NULL, number INTEGER NOT NULL, json TEXT NOT NULL,
                  PRIMARY KEY (job, number)) WITHOUT ROWID;
CREATE TABLE runs(job INTEGER NOT NULL, run TEXT NOT NULL, host TEXT NOT NULL,
                  sequence INTEGER NOT NULL, first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL,
                  PRIMARY KEY (job, run)) WITHOUT ROWID;
CREATE TABLE gauges(job INTEGER NOT NULL, scope TEXT NOT NULL, name TEXT NOT NULL,
                    unit TEXT NOT NULL, value REAL NOT NULL, time_ns INTEGER NOT NULL,
                    PRIMARY KEY (job, scope, name)) WITHOUT ROWID;
CREATE TABLE marks(id INTEGER PRIMARY KEY, job INTEGER NOT NULL, time_ns INTEGER NOT NULL,
                   text TEXT NOT NULL);
CREATE INDEX marks_of_job ON marks(job, id);
)sql",
};

Result<int64_t> version_of(Sqlite& sqlite) {
  TRY_ASSIGN(SqliteStatement statement, sqlite.prepare("PRAGMA user_version"));
  TRY_ASSIGN(const bool found, statement.step());
  const int64_t version = found ? statement.number(0) : 0;
  statement.reset();
  return version;
}

}  // namespace

Status prepare_sqlite(Sqlite& sqlite) {
  // FULL with a log: a commit is on disk when it returns, also where power fails.
  TRY(
      sqlite.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                     "PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY; "
                     "PRAGMA wal_autocheckpoint=4000; PRAGMA journal_size_limit=67108864"));
  TRY_ASSIGN(int64_t version, version_of(sqlite));
  if (version > static_cast<int64_t>(kSteps.size()))
    return Error{Code::kUnsupported, fmt::format("the data is of version {}, made by a newer hub; "
                                                 "this one knows version {}",
                                                 version, kSteps.size())};
  for (; version < static_cast<int64_t>(kSteps.size()); ++version) {
    auto made = sqlite.execute(fmt::format("BEGIN IMMEDIATE; {} PRAGMA user_version={}; COMMIT",
                                           kSteps[static_cast<size_t>(version)], version + 1));
    if (!made.ok()) {
      (void)sqlite.execute("ROLLBACK");
      return std::move(made).error().within(fmt::format("make version {}", version + 1));
    }
  }
  return {};
}

}  // namespace fathom
