// SPDX-License-Identifier: Apache-2.0
// How fast a journal becomes Parquet, how much memory that takes beside libduckdb itself, and how a
// question over its counters compares with the same question to SQLite over the same rows.
//
//   build/release/bench/convert_bench [MILLIONS] [FOLDER]      (10 million in /tmp unless told)
//
// Needs libduckdb ($FATHOM_DUCKDB or where fathom finds it) and, for the comparison, sqlite3 in
// $PATH.
#include <fmt/format.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "base/clock.h"
#include "base/duckdb.h"
#include "record/frame.h"
#include "record/journal.h"
#include "record/sql.h"
#include "record/tables.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMillion = 1'000'000;
constexpr const char* kQuestion =
    "SELECT layer, name, file, sum(count), sum(time_ns), sum(bytes), max(errors) FROM counters "
    "GROUP BY ALL ORDER BY ALL";
// SQLite has no GROUP BY ALL.
constexpr const char* kSqliteQuestion =
    "SELECT layer, name, file, sum(count), sum(time_ns), sum(bytes), max(errors) FROM counters "
    "GROUP BY layer, name, file ORDER BY 1, 2, 3";

// Rows such as the io probe makes: some threads, functions and files, times that rise, sizes that
// vary.
class Synthetic {
 public:
  Synthetic() {
    for (int i = 0; i < 16; ++i) threads_.push_back(names_.thread(1000 + i / 4, 1000 + i));
    for (const char* name :
         {"read", "write", "pread64", "openat", "close", "fsync", "lseek", "futex"}) {
      calls_.push_back(names_.string(name));
    }
    for (int i = 0; i < 500; ++i)
      files_.push_back(names_.string(fmt::format("/data/set/part-{:05}.bin", i)));
    layer_ = names_.string("sys");
  }

  void add(Span& span) {
    time_ns_ += 200 + below(4000);
    span = Span();
    span.start_ns = time_ns_;
    span.duration_ns = 300 + below(20'000);
    span.thread = pick(threads_);
    span.layer = layer_;
    span.name = pick(calls_);
    span.bytes = below(65'536);
    span.file = pick(files_);
    span.result = span.bytes;
  }
  void add(Counter& counter) {
    time_ns_ += below(40'000);
    counter = Counter();
    counter.slice_ns = time_ns_ / kNsPerSecond * kNsPerSecond;
    counter.slice_length_ns = kNsPerSecond;
    counter.thread = pick(threads_);
    counter.layer = layer_;
    counter.name = pick(calls_);
    counter.file = pick(files_);
    counter.count = 1 + below(1000);
    counter.time_ns = below(9'000'000);
    counter.self_time_ns = below(9'000'000);
    counter.bytes = below(900'000);
    counter.errors = below(50) == 0 ? 1 : 0;
  }
  void add(Run& run) { run.id = names_.string("bench"); }

  [[nodiscard]] const Dictionary& dictionary() const { return names_.dictionary(); }

 private:
  template <class Id>
  Id pick(const std::vector<Id>& from) {
    return from[random_() % from.size()];
  }
  int64_t below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }

  Interner names_;
  std::vector<ThreadId> threads_;
  std::vector<StringId> calls_, files_;
  StringId layer_{};
  int64_t time_ns_ = kNsPerSecond;
  std::mt19937_64 random_{42};
};

template <class Record>
Status make_journal(const std::string& folder, int64_t count) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  TRY_ASSIGN(JournalFile journal, JournalFile::create(folder + "/" + kJournalName));
  FrameEncoder encoder;
  Synthetic synthetic;
  Rows rows;
  rows.of<Run>().resize(1);
  synthetic.add(rows.of<Run>().front());
  for (int64_t left = count; left > 0;) {
    rows.of<Record>().resize(static_cast<size_t>(std::min<int64_t>(left, kMaxRowsPerTable)));
    for (Record& record : rows.of<Record>()) synthetic.add(record);
    left -= static_cast<int64_t>(rows.of<Record>().size());
    TRY_ASSIGN(const std::string frame,
               encoder.encode(synthetic.dictionary(), rows, left == 0 ? kSealFlag : 0));
    TRY(journal.append(frame, left == 0));
    rows.clear();
  }
  return journal.close();
}

// Of all threads: what a busy machine hardly changes.
double cpu_seconds() { return static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID)) / 1e9; }

int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

// Runs `work` in a child, so that every peak is its own, and prints what it says.
template <class Work>
bool in_child(Work&& work) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const Status done = work();
    if (!done.ok()) fmt::print(stderr, "{}\n", done.error().message);
    fflush(stdout);
    _exit(done.ok() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

int64_t folder_bytes(const std::string& folder) {
  int64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder))
    bytes += static_cast<int64_t>(entry.file_size());
  return bytes;
}

// What DuckDB takes before it has done anything.
Status start_duckdb() {
  TRY_ASSIGN(DuckDatabase database, DuckDatabase::open());
  TRY_ASSIGN(DuckConnection connection, DuckConnection::open(database));
  return connection.execute("SELECT 1");
}

template <class Record>
Status convert(const std::string& folder, int64_t count) {
  TRY(start_duckdb());
  const int64_t baseline = peak_rss_bytes();
  const int64_t journal_bytes = folder_bytes(folder);
  const int64_t start = monotonic_ns();
  const double cpu_before = cpu_seconds();
  TRY_ASSIGN(const Recording recording, Recording::open(folder));
  TRY(convert_journal(recording));
  const double seconds = static_cast<double>(monotonic_ns() - start) / 1e9;
  const double cpu = cpu_seconds() - cpu_before;
  const double rows = static_cast<double>(count);
  fmt::print(
      "{:<9} {:>5.1f} M rows  {:>6.2f} s  {:>5.2f} M rows/s  {:.2f} M rows/CPU s  journal {:.1f} "
      "B/row  "
      "parquet {:.1f} B/row  peak {} MB over {} MB of libduckdb\n",
      TableOf<Record>::kName, rows / 1e6, seconds, rows / seconds / 1e6, rows / cpu / 1e6,
      static_cast<double>(journal_bytes) / rows, static_cast<double>(folder_bytes(folder)) / rows,
      (peak_rss_bytes() - baseline) >> 20, baseline >> 20);
  return {};
}

Result<double> ask(const std::string& folder, const char* form) {
  const int64_t start = monotonic_ns();
  std::vector<Recording> recordings;
  TRY_ASSIGN(Recording recording, Recording::open(folder));
  recordings.push_back(std::move(recording));
  TRY_ASSIGN(auto session, SqlSession::open(std::move(recordings)));
  TRY_ASSIGN(SqlRows rows, session->query(kQuestion));
  size_t count = 0;
  while (true) {
    TRY_ASSIGN(const DuckChunk chunk, rows.result.next());
    if (chunk.get() == nullptr) break;
    count += loaded_duck_api().data_chunk_get_size(chunk.get());
  }
  const double seconds = static_cast<double>(monotonic_ns() - start) / 1e9;
  fmt::print("group by over counters, fathom on the {:<8} {:>7.3f} s  ({} groups)\n", form, seconds,
             count);
  return seconds;
}

int shell(const std::string& command) {
  return std::system(command.c_str());
}  // NOLINT(concurrency-mt-unsafe)

// The same rows in SQLite, indexed by nothing, as a plain table of them would be.
Result<double> ask_sqlite(const std::string& folder) {
  const std::string csv = folder + ".csv";
  const std::string database = folder + ".sqlite";
  fs::remove(database);
  TRY_ASSIGN(DuckDatabase duck, DuckDatabase::open());
  TRY_ASSIGN(DuckConnection connection, DuckConnection::open(duck));
  TRY(connection.execute("COPY (SELECT layer, name, file, count, time_ns, bytes, errors FROM " +
                         sql_text(folder + "/counters.parquet") + ") TO " + sql_text(csv) +
                         " (HEADER false)"));
  const std::string load = fmt::format(
      "printf 'PRAGMA journal_mode=OFF;\nPRAGMA synchronous=OFF;\n"
      "CREATE TABLE counters(layer TEXT, name TEXT, file TEXT, count INT, time_ns INT, bytes INT, "
      "errors INT);\n"
      ".mode csv\n.import {} counters\n' | sqlite3 {} >/dev/null",
      csv, database);
  if (shell(load) != 0) return Error{Code::kUnsupported, "sqlite3 is absent: no comparison"};
  fs::remove(csv);
  const int64_t start = monotonic_ns();
  if (shell(fmt::format("sqlite3 {} '{}' >/dev/null", database, kSqliteQuestion)) != 0) {
    return Error{Code::kInternal, "sqlite3 refused the question"};
  }
  const double seconds = static_cast<double>(monotonic_ns() - start) / 1e9;
  fmt::print("group by over counters, sqlite3                  {:>7.3f} s\n", seconds);
  fs::remove(database);
  return seconds;
}

Status compare(const std::string& folder, int64_t count) {
  TRY(make_journal<Counter>(folder, count));
  TRY_ASSIGN(const double journal, ask(folder, "journal"));
  TRY_ASSIGN(const Recording recording, Recording::open(folder));
  TRY(convert_journal(recording));
  TRY_ASSIGN(const double parquet, ask(folder, "Parquet"));
  TRY_ASSIGN(const double sqlite, ask_sqlite(folder));
  fmt::print("sqlite3 takes {:.0f} times as long as the journal, {:.0f} times as long as Parquet\n",
             sqlite / journal, sqlite / parquet);
  return {};
}

int bench(int64_t millions, const std::string& place) {
  const std::string folder = place + "/convert-bench.fathom";
  const int64_t count = millions * kMillion;
  bool good = in_child([&] { return make_journal<Span>(folder, count); });
  good = good && in_child([&] { return convert<Span>(folder, count); });
  good = good && in_child([&] { return make_journal<Counter>(folder, count); });
  good = good && in_child([&] { return convert<Counter>(folder, count); });
  good = good && in_child([&] { return compare(folder, count); });
  fs::remove_all(folder);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace fathom

int main(int argc, char** argv) {
  return fathom::bench(argc > 1 ? std::max(1, std::atoi(argv[1])) : 10,
                       argc > 2 ? argv[2] : "/tmp");
}
