// SPDX-License-Identifier: Apache-2.0
// Journal to Parquet. Everything is written and made durable in FOLDER/.converting, then moved into
// FOLDER, and the journal goes last: while it stands it is the truth, so that a kill anywhere loses
// nothing and the next conversion starts over.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file_mode.h"
#include "record/checksums.h"
#include "record/column.h"
#include "record/journal_scan.h"
#include "record/run_json.h"
#include "record/tables.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Every thread holds a decoded frame and buffers a row group until it is full: these two decide the
// memory (10 M counters: 55 MB beside libduckdb; with DuckDB's own 122,880 rows twice that, and no
// faster). Bloom filters would all be kept until the end, 1 MB for a million rows; the extremes of
// row groups leave them little to skip.
constexpr int kThreads = 2;
constexpr const char* kParquet =
    " (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE 20480,"
    " WRITE_BLOOM_FILTER false)";
constexpr int64_t kMemoryLimitBytes = int64_t{512} << 20;

Status remove_all(const std::string& path) {
  std::error_code failed;
  fs::remove_all(path, failed);
  if (failed) return errno_error("remove " + path, failed.value());
  return {};
}

Status rename_file(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return errno_error("rename " + from + " to " + to);
  return {};
}

Status sync_file(const std::string& path) {
  TRY_ASSIGN(const Fd file, open_file(path, O_RDONLY));
  if (fsync(file.get()) != 0) return errno_error("fsync " + path);
  return {};
}

// The folder of a journal that is opened as such or by its own path.
Result<std::string> folder_of(const Recording& recording) {
  std::error_code failed;
  fs::path path = fs::absolute(recording.path(), failed);
  if (failed) return errno_error("find " + recording.path(), failed.value());
  if (fs::is_directory(path, failed)) return path.string();
  if (path.filename() == kJournalName) return path.parent_path().string();
  return Error{Code::kInvalid, recording.path() + " is a journal outside of a recording's folder",
               "move it to NAME.fathom/journal"};
}

class Conversion {
 public:
  Conversion(const Recording& recording, std::string folder)
      : recording_(recording), folder_(std::move(folder)), work_(folder_ + "/" + kConvertingName) {}

  Status run() {
    TRY(remove_all(work_));
    struct stat journal {};
    if (stat((folder_ + "/" + kJournalName).c_str(), &journal) != 0)
      return errno_error("read " + folder_ + "/" + kJournalName);
    file_mode_ = journal.st_mode & 0666;
    if (mkdir(work_.c_str(), directory_mode(kPrivateFileMode)) != 0)
      return errno_error("make " + work_);
    if (auto written = write(); !written.ok()) {
      (void)remove_all(work_);  // the error that counts is the first
      return written;
    }
    return publish();
  }

 private:
  Status write() {
    TRY(write_tables());
    TRY_ASSIGN(const auto facts, collect(recording_, tables_of<Run, ProbeStatus>()));
    if (facts->rows.of<Run>().empty() && recording_.journal()->health().damaged_places > 0) {
      return Error{Code::kCorrupt,
                   recording_.path() +
                       " stays a journal, for no row of the run is left that could "
                       "say what is missing: " +
                       recording_.damage(),
                   "all commands read it as it is"};
    }
    TRY(write_file(work_ + "/" + kRunFileName, run_json(*facts, tables_)));
    TRY(sync_file(work_ + "/" + kRunFileName));
    files_.emplace_back(kRunFileName);
    TRY(write_file(work_ + "/" + kChecksumsName, checksums_text(checksums_)));
    TRY(sync_file(work_ + "/" + kChecksumsName));
    files_.emplace_back(kChecksumsName);
    return sync_folder(work_);
  }

  Status write_tables() {
    TRY_ASSIGN(DuckDatabase database, DuckDatabase::open({.memory_limit_bytes = kMemoryLimitBytes,
                                                          .threads = kThreads,
                                                          .temp_folder = work_ + "/spill"}));
    TRY_ASSIGN(DuckConnection connection, DuckConnection::open(database));
    TRY(connection.execute("SET preserve_insertion_order = false"));
    TRY(register_journal_scan(connection, {&recording_, 1}));
    const uint32_t present = tables_in_journal(*recording_.journal()) | tables_of<Run>();
    // From the last to the first, runs: its row says what damage reading all others has met.
    for (size_t table = all_tables().size(); table-- > 0;) {
      if (((present >> table) & 1U) == 0) continue;
      if (auto written = write_table(connection, table); !written.ok()) {
        return std::move(written).error().within(std::string("convert ") +
                                                 all_tables()[table].name);
      }
    }
    return {};
  }

  Status write_table(DuckConnection& connection, size_t table) {
    const std::string name = std::string(all_tables()[table].name) + ".parquet";
    const std::string path = work_ + "/" + name;
    TRY_ASSIGN(DuckResult result, connection.query("COPY (FROM " + journal_scan_sql(0, table) +
                                                   ") TO " + sql_text(path) + kParquet));
    TRY_ASSIGN(const int64_t rows, result.next_number());
    if (rows == 0 && table != table_number<Run>()) return remove_all(path);
    TRY(sync_file(path));
    TRY_ASSIGN(checksums_[name], sum_of_file(path));
    files_.push_back(name);
    tables_[all_tables()[table].name] = rows;
    return {};
  }

  Status publish() {
    // Tables of an unfinished conversion that this one does not replace.
    for (const TableColumns& table : all_tables())
      TRY(remove_all(folder_ + "/" + table.name + ".parquet"));
    for (const std::string& file : files_) {
      if (chmod((work_ + "/" + file).c_str(), file_mode_) != 0)
        return errno_error("change permissions of " + file);
      TRY(rename_file(work_ + "/" + file, folder_ + "/" + file));
    }
    TRY(sync_folder(folder_));
    const std::string journal = folder_ + "/" + kJournalName;
    if (unlink(journal.c_str()) != 0) return errno_error("remove " + journal);
    TRY(remove_all(work_));
    return sync_folder(folder_);
  }

  const Recording& recording_;
  std::string folder_;
  std::string work_;
  std::vector<std::string> files_;
  TableList tables_;
  Checksums checksums_;
  unsigned file_mode_ = kPrivateFileMode;  // the journal's
};

}  // namespace

Status convert_journal(const Recording& recording) {
  if (recording.journal() == nullptr) return {};
  TRY_ASSIGN(std::string folder, folder_of(recording));
  // One converter at a time, and none while a recorder lives. Whoever comes second finds the
  // journal gone.
  const std::string journal = folder + "/" + kJournalName;
  auto file = open_file(journal, O_RDONLY);
  if (!file.ok() && file.error().code == Code::kNotFound) return {};
  if (!file.ok()) return std::move(file).error();
  if (flock(file.value().get(), LOCK_EX) != 0) {
    Error error = errno_error("lock " + journal);
    // Without locks the seal tells that no recorder writes any more.
    if (journal_use(journal) != JournalUse::kUnknown || !recording.journal()->health().sealed) {
      error.hint = "copy " + folder + " to a file system with file locks, and convert it there";
      return error;
    }
  }
  if (access(journal.c_str(), F_OK) != 0) return {};
  return Conversion(recording, std::move(folder)).run();
}

}  // namespace fathom
