// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_store.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <atomic>
#include <mutex>

#include "base/clock.h"
#include "base/text.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_writer.h"

namespace fathom {
namespace {

constexpr int64_t kPageRows = 10'000;

Job job_of(const SqliteStatement& row) {
  return {row.number(0), row.text(1), row.text(2), row.number(3), row.number(4)};
}

constexpr const char* kJobColumns =
    "SELECT id, description, labels, created_ns, "
    "(SELECT count(*) FROM rows WHERE job = id) FROM jobs ";

class SqliteStore final : public Store {
 public:
  Status open(const std::string& file) {
    TRY_ASSIGN(write_, Sqlite::open(file));
    TRY(prepare_sqlite(write_));
    TRY_ASSIGN(read_, Sqlite::open(file));
    file_ = file;
    return writer_.prepare(write_);
  }

  Result<Job> create_job(int64_t id, const std::string& description,
                         const std::string& labels) override {
    TRY(check_new_job(id, description));
    const std::lock_guard lock(write_mutex_);
    if (id == 0) {
      TRY_ASSIGN(id, next_free());
    }
    TRY_ASSIGN(SqliteStatement insert,
               write_.prepare("INSERT INTO jobs VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"));
    const Job job{id, description, labels, clock_ns(CLOCK_REALTIME), 0};
    TRY(insert.bind(1, id).bind(2, description).bind(3, labels).bind(4, job.created_ns).run());
    if (write_.changed() == 0)
      return Error{Code::kExists, fmt::format("job {} exists already", id)};
    return job;
  }

  Status remove_job(int64_t id) override {
    const std::lock_guard lock(write_mutex_);
    TRY_ASSIGN(SqliteStatement remove, write_.prepare("DELETE FROM jobs WHERE id = ?"));
    TRY(write_.execute("BEGIN IMMEDIATE"));
    auto removed = remove.bind(1, id).run();
    const bool was = removed.ok() && write_.changed() > 0;
    for (const char* table : {"sums", "units", "rows", "runs", "gauges", "marks"}) {
      if (was && removed.ok())
        removed = write_.execute(fmt::format("DELETE FROM {} WHERE job = {}", table, id));
    }
    TRY(finish(std::move(removed)));
    if (!was) return no_such_job(id);
    if (listener_) listener_(id, removed_event(id));
    return {};
  }

  Result<std::vector<Job>> jobs() override {
    const std::lock_guard lock(read_mutex_);
    TRY_ASSIGN(SqliteStatement select, read_.prepare(std::string(kJobColumns) + "ORDER BY id"));
    std::vector<Job> jobs;
    while (true) {
      TRY_ASSIGN(const bool more, select.step());
      if (!more) return jobs;
      jobs.push_back(job_of(select));
    }
  }

  Result<Job> job(int64_t id) override {
    const std::lock_guard lock(read_mutex_);
    TRY_ASSIGN(SqliteStatement select, read_.prepare(std::string(kJobColumns) + "WHERE id = ?"));
    TRY_ASSIGN(const bool found, select.bind(1, id).step());
    if (!found) return no_such_job(id);
    return job_of(select);
  }

  Result<std::vector<Applied>> apply(std::span<const Change> changes) override {
    std::unique_lock lock(write_mutex_);
    TRY(write_.execute("BEGIN IMMEDIATE"));
    std::vector<Applied> answers;
    Status status;
    for (const Change& change : changes) {
      auto applied = writer_.apply(write_, change);
      if (!applied.ok()) {
        status = std::move(applied).error();
        break;
      }
      answers.push_back(std::move(applied).value());
    }
    TRY(finish(std::move(status)));
    lock.unlock();
    for (size_t i = 0; i < changes.size(); ++i) {
      if (answers[i].how != Applied::How::kApplied) continue;
      sums_written_ += static_cast<int64_t>(changes[i].sums.size());
      if (listener_ && !changes[i].event.empty()) listener_(changes[i].job, changes[i].event);
    }
    return answers;
  }

  Result<uint64_t> last_sequence(int64_t job, const std::string& run) override {
    const std::lock_guard lock(read_mutex_);
    TRY_ASSIGN(SqliteStatement select,
               read_.prepare("SELECT sequence FROM runs WHERE job = ? AND run = ?"));
    TRY_ASSIGN(const bool found, select.bind(1, job).bind(2, run).step());
    return found ? static_cast<uint64_t>(select.number(0)) : 0;
  }

  Result<std::vector<RunState>> runs(int64_t job) override {
    const std::lock_guard lock(read_mutex_);
    TRY_ASSIGN(SqliteStatement select,
               read_.prepare("SELECT run, host, sequence, first_ns, last_ns FROM runs "
                             "WHERE job = ? ORDER BY run"));
    select.bind(1, job);
    std::vector<RunState> runs;
    while (true) {
      TRY_ASSIGN(const bool more, select.step());
      if (!more) return runs;
      runs.push_back({select.text(0), select.text(1), static_cast<uint64_t>(select.number(2)),
                      select.number(3), select.number(4)});
    }
  }

  Result<SumPage> sums(int64_t job, const std::string& from) override;

  Result<std::vector<std::string>> rows(int64_t job, int64_t from, int64_t most) override {
    const std::lock_guard lock(read_mutex_);
    TRY_ASSIGN(SqliteStatement select,
               read_.prepare("SELECT json FROM rows WHERE job = ? AND number >= ? "
                             "ORDER BY number LIMIT ?"));
    select.bind(1, job).bind(2, from).bind(3, most);
    std::vector<std::string> rows;
    while (true) {
      TRY_ASSIGN(const bool more, select.step());
      if (!more) return rows;
      rows.push_back(select.text(0));
    }
  }

  Status clear_rows(int64_t job_id) override {
    TRY(job(job_id));
    const std::lock_guard lock(write_mutex_);
    return write_.execute(fmt::format("DELETE FROM rows WHERE job = {}", job_id));
  }

  Result<std::vector<GaugeValue>> gauges(int64_t job) override {
    const std::lock_guard lock(read_mutex_);
    TRY_ASSIGN(SqliteStatement select,
               read_.prepare("SELECT name, unit, scope, value, time_ns FROM gauges "
                             "WHERE job = ? ORDER BY scope, name"));
    select.bind(1, job);
    std::vector<GaugeValue> gauges;
    while (true) {
      TRY_ASSIGN(const bool more, select.step());
      if (!more) return gauges;
      gauges.push_back(
          {select.text(0), select.text(1), select.text(2), select.real(3), select.number(4)});
    }
  }

  Result<std::vector<MarkText>> marks(int64_t job) override {
    const std::lock_guard lock(read_mutex_);
    TRY_ASSIGN(SqliteStatement select,
               read_.prepare("SELECT time_ns, text FROM marks WHERE job = ? ORDER BY id"));
    select.bind(1, job);
    std::vector<MarkText> marks;
    while (true) {
      TRY_ASSIGN(const bool more, select.step());
      if (!more) return marks;
      marks.push_back({select.number(0), select.text(1)});
    }
  }

  void listen(Listener listener, Notice /*notice*/) override { listener_ = std::move(listener); }
  // That it can be read does not say that it takes anything: the disk may be full. Where something
  // is being written, that will tell.
  Status ready() override {
    TRY(check_space());
    {
      const std::unique_lock writing(write_mutex_, std::try_to_lock);
      if (writing) {
        TRY(write_.execute("BEGIN IMMEDIATE"));
        TRY(
            finish(write_.execute("INSERT INTO marks(job, time_ns, text) VALUES (0, 0, ''); "
                                  "DELETE FROM marks WHERE job = 0")));
      }
    }
    const std::lock_guard lock(read_mutex_);
    return read_.execute("SELECT count(*) FROM sqlite_schema");
  }
  [[nodiscard]] int64_t sums_written() const override { return sums_written_; }

 private:
  // Commits, or takes everything back.
  Status finish(Status status) {
    if (status.ok()) status = write_.execute("COMMIT");
    if (!status.ok()) (void)write_.execute("ROLLBACK");
    return status;
  }
  Result<int64_t> next_free() {
    TRY_ASSIGN(SqliteStatement select,
               write_.prepare(fmt::format(
                   "SELECT min(id) FROM (SELECT {0} AS id UNION SELECT id + 1 FROM jobs WHERE "
                   "id < {1}) WHERE id NOT IN (SELECT id FROM jobs)",
                   kFirstJob, kLastJob)));
    TRY_ASSIGN(const bool found, select.step());
    const int64_t id = found ? select.number(0) : 0;
    if (id == 0) return Error{Code::kNoSpace, "no job id is free", "remove jobs first"};
    return id;
  }

  // A small write fits into the log that is there; a batch may not.
  [[nodiscard]] Status check_space() const {
    constexpr uint64_t kMinFreeBytes = uint64_t{1} << 20;
    struct statvfs disk {};
    if (statvfs(file_.c_str(), &disk) != 0) return errno_error("statvfs " + file_);
    const uint64_t free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
    if (free_bytes >= kMinFreeBytes) return {};
    return Error{Code::kNoSpace, fmt::format("no space left on the disk of {}: {} free", file_,
                                             format_bytes(static_cast<int64_t>(free_bytes)))};
  }

  std::string file_;
  std::mutex write_mutex_, read_mutex_;
  Sqlite write_, read_;
  SqliteWriter writer_;
  Listener listener_;
  std::atomic<int64_t> sums_written_{0};
};

Result<SumPage> SqliteStore::sums(int64_t job, const std::string& from) {
  const std::lock_guard lock(read_mutex_);
  TRY_ASSIGN(SqliteStatement select,
             read_.prepare("SELECT symbol, program, event, coalesce(unit, ''), sum FROM sums "
                           "LEFT JOIN units USING (job, event) "
                           "WHERE job = ?1 AND (symbol, program) > (?2, ?3) "
                           "ORDER BY symbol, program, event"));
  const SumName after = split_sum_key(from);
  select.bind(1, job).bind(2, after.symbol).bind(3, after.program);
  SumPage page;
  while (true) {
    TRY_ASSIGN(const bool more, select.step());
    if (!more) return page;
    SumRow row{select.text(0), select.text(1), select.text(2), select.text(3), select.number(4)};
    const bool full = page.rows.size() >= kPageRows;
    if (full &&
        (row.symbol != page.rows.back().symbol || row.program != page.rows.back().program)) {
      page.next = sum_key(page.rows.back().symbol, page.rows.back().program, "");
      select.reset();
      return page;
    }
    page.rows.push_back(std::move(row));
  }
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& address) {
  auto store = std::make_unique<SqliteStore>();
  auto opened = store->open(address.substr(address.find(':') + 1));
  if (!opened.ok()) return std::move(opened).error();
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace fathom
