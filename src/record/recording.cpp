// SPDX-License-Identifier: Apache-2.0
#include "record/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/fd.h"
#include "base/text.h"
#include "record/column.h"
#include "record/merge.h"
#include "record/run_json.h"
#include "record/tables.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnwritten = "could not be written";

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Its last four bytes say that it was written to its end.
bool ends_like_parquet(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string end(4, '\0');
  return file.seekg(-4, std::ios::end) && file.read(end.data(), 4) && end == "PAR1";
}

// A folder with tables, but not the one that says what they are of.
Error without_runs(const Recording& recording, int64_t others) {
  return Error{
      Code::kCorrupt,
      fmt::format("{}: {}.parquet is missing, without which {} other table{} {} of no known run",
                  recording.path(), TableOf<Run>::kName, others, others == 1 ? "" : "s",
                  others == 1 ? "is" : "are"),
      recording.remedy()};
}

}  // namespace

Result<Recording> Recording::open(const std::string& path) {
  Recording recording;
  recording.path_ = path;
  std::error_code ignored;
  // What else has that name is mostly the program that was recorded, or where it ran.
  const bool is_itself =
      exists(path + "/" + kJournalName) || exists(path + "/" + TableOf<Run>::kName + ".parquet");
  const bool named = exists(path + kFolderSuffix) && !is_itself;
  if (named) recording.path_ = path + kFolderSuffix;
  while (recording.path_.size() > 1 && recording.path_.ends_with('/')) recording.path_.pop_back();
  std::string journal_path = recording.path_ + "/" + kJournalName;
  if (fs::is_regular_file(recording.path_, ignored)) {
    if (recording.path_.ends_with(".tar")) {
      return Error{Code::kUnsupported, path + " is a packed recording", "fathom unpack " + path};
    }
    journal_path = recording.path_;
  }
  if (exists(journal_path)) {
    TRY_ASSIGN(JournalReader reader, JournalReader::open(journal_path));
    recording.journal_path_ = journal_path;
    recording.journal_ = std::make_shared<JournalReader>(std::move(reader));
    if (recording.journal_->entries().empty()) {
      return Error{Code::kCorrupt,
                   fmt::format("{} holds no whole frame: nothing could be saved of its {} bytes",
                               journal_path, recording.journal_->health().file_bytes)};
    }
    recording.use_ = journal_use(journal_path);
    return recording;
  }
  if (exists(recording.table_path(TableOf<Run>::kName))) {
    recording.open_tables();
    return recording;
  }
  if (!exists(recording.path_)) {
    return Error{Code::kNotFound, "no recording " + path,
                 "make one with: fathom run -o NAME -- COMMAND"};
  }
  if (access(recording.path_.c_str(), R_OK | X_OK) != 0 && errno == EACCES) {
    return errno_error("open " + recording.path_)
        .with_hint("it belongs to another user, who can share recordings: fathom run --mode 0644");
  }
  const auto others = std::count_if(
      all_tables().begin(), all_tables().end(),
      [&](const TableColumns& table) { return exists(recording.table_path(table.name)); });
  if (others > 0) return without_runs(recording, others);
  return Error{Code::kCorrupt, path + " is not a recording: it has neither a journal nor tables"};
}

void Recording::open_tables() {
  const auto json = read_file(path_ + "/" + kRunFileName);
  if (json.ok()) tables_ = tables_in_run_json(json.value());
  const std::string path = path_ + "/" + kChecksumsName;
  if (!exists(path)) return;
  const auto text = read_file(path);
  auto sums = checksums_in(text.ok() ? text.value() : "");
  checksums_unreadable_ = !sums.ok();
  if (sums.ok()) checksums_ = std::move(sums).value();
}

std::string Recording::table_path(const char* table) const {
  return path_ + "/" + table + ".parquet";
}

void Recording::found_rows(const char* table, int64_t rows) const {
  const std::lock_guard lock(found_->mutex);
  found_->tables[table] = rows;
}

void Recording::found_damaged(const char* table) const {
  const std::lock_guard lock(found_->mutex);
  found_->damaged.insert(table);
}

Status Recording::check_table(const char* table) const {
  const auto written = checksums_.find(table + std::string(".parquet"));
  const std::string path = table_path(table);
  if (journal_ || written == checksums_.end() || !exists(path)) return {};
  bool known_damaged = false;
  {
    const std::lock_guard lock(found_->mutex);
    if (found_->whole.contains(table)) return {};
    known_damaged = found_->damaged.contains(table);
  }
  if (!known_damaged) {
    TRY_ASSIGN(const bool whole, is_as_written(path, written->second));
    const std::lock_guard lock(found_->mutex);
    (whole ? found_->whole : found_->damaged).insert(table);
    if (whole) return {};
  }
  return Error{Code::kCorrupt, path + " is damaged",
               remedy() + "; the other tables can be asked: fathom query RUN --schema"};
}

std::string Recording::remedy() const {
  const std::string archive = path_ + ".tar";
  if (exists(archive)) return "unpack it again: fathom unpack " + shell_quote(archive) + " -o NAME";
  return "copy the recording again from where it was made, or unpack it again if it was packed";
}

std::vector<std::string> Recording::damaged_tables() const {
  std::vector<std::string> files;
  if (journal_) return files;
  const std::lock_guard lock(found_->mutex);
  std::set<std::string> damaged = found_->damaged;
  for (const auto& [table, rows] : tables_) {
    const std::string path = table_path(table.c_str());
    if (exists(path) && !ends_like_parquet(path)) damaged.insert(table);
  }
  for (const std::string& table : damaged) files.push_back(table + ".parquet");
  return files;
}

std::string Recording::damage() const { return journal_ ? journal_damage() : tables_damage(); }

std::string Recording::tables_damage() const {
  std::vector<std::string> parts;
  std::vector<std::string> damaged = damaged_tables();
  if (!damaged.empty()) {
    // Where one is damaged, none is called whole unseen.
    for (const auto& [table, rows] : tables_) (void)check_table(table.c_str());
    damaged = damaged_tables();
    parts.push_back(
        fmt::format("{} {} damaged", fmt::join(damaged, ", "), damaged.size() == 1 ? "is" : "are"));
  }
  size_t whole = 0;
  for (const auto& [table, rows] : tables_) {
    if (exists(table_path(table.c_str())) &&
        std::find(damaged.begin(), damaged.end(), table + ".parquet") == damaged.end())
      ++whole;
  }
  if (!damaged.empty() && !tables_.empty())
    parts.push_back(fmt::format("{} of {} tables are whole", whole, tables_.size()));
  const std::lock_guard lock(found_->mutex);
  for (const auto& [table, rows] : tables_) {
    const auto found = found_->tables.find(table);
    if (!exists(table_path(table.c_str()))) {
      parts.push_back(fmt::format("{}.parquet with its {} rows is gone", table, rows));
    } else if (found != found_->tables.end() && found->second != rows) {
      parts.push_back(fmt::format("{}.parquet has {} rows, and was written with {}", table,
                                  found->second, rows));
    }
  }
  if (checksums_unreadable_)
    parts.push_back(fmt::format("{} makes no sense, so tables are not checked", kChecksumsName));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string Recording::journal_damage() const {
  const JournalHealth health = journal_->health();
  std::string text;
  if (health.damaged_places > 0) {
    text = fmt::format(
        "{} bytes are damaged in {} place{}; {} whole frames ({}) were saved, at least {} {} lost: "
        "figures are those of the rest",
        health.damaged_bytes, health.damaged_places, health.damaged_places == 1 ? "" : "s",
        health.frames,
        format_bytes(
            static_cast<double>(health.file_bytes - health.damaged_bytes - health.torn_bytes)),
        health.damaged_frames, health.damaged_frames == 1 ? "was" : "were");
  }
  if (!text.empty() && (!health.sealed || health.torn_bytes > 0)) text += "; ";
  if (!health.sealed && health.torn_bytes > 0 && !health.ends_in_frame &&
      use_ != JournalUse::kInUse) {
    text += fmt::format("the last {} bytes are damaged, and the end of the run with them",
                        health.torn_bytes);
  } else if (!health.sealed) {
    text += use_ == JournalUse::kInUse  ? "the run is still being recorded: "
            : use_ == JournalUse::kFree ? "the recorder was killed: "
                                        : "the recorder was killed, or still writes (no file locks "
                                          "here to tell by): ";
    text += health.torn_bytes > 0
                ? fmt::format("the last {} bytes were being written and are left out",
                              health.torn_bytes)
                : std::string("shown is what it had written by then");
  } else if (health.torn_bytes > 0) {
    text += fmt::format("{} bytes after the end are no part of it", health.torn_bytes);
  }
  return text;
}

Status Recording::read(TableSet tables, const Visit& visit) const {
  if (!journal_ && !cut_) return read_tables(*this, tables, visit);
  if (!journal_) {
    return read_tables(*this, tables, [&](const Batch& batch) {
      Batch part;
      part.dictionary = batch.dictionary;
      part.rows = batch.rows;
      cut_rows(part.rows, *cut_);
      return visit(part);
    });
  }
  Batch batch;
  for (const JournalReader::Entry& entry : journal_->entries()) {
    if ((entry.header.tables & tables) == 0) continue;
    TRY_ASSIGN(batch, journal_->read(entry, tables, std::move(batch)));
    if (cut_) cut_rows(batch.rows, *cut_);
    TRY(visit(batch));
  }
  return {};
}

Result<Recording> Recording::between(Maybe from_ns, Maybe to_ns) const {
  TRY_ASSIGN(const auto tables, collect_as_written(*this, tables_of<Run>()));
  const std::vector<Run>& runs = tables->rows.of<Run>();
  const int64_t start_ns = runs.empty() ? 0 : runs.front().start_ns;
  const Maybe end_ns = runs.empty() ? std::nullopt : runs.front().end_ns;
  if (from_ns && end_ns && start_ns + *from_ns > *end_ns) {
    return Error{Code::kNotFound,
                 fmt::format("nothing was recorded after {}: the run had ended by then",
                             format_duration_ns(*from_ns)),
                 fmt::format("--from is a time after the start; the run took {}",
                             format_duration_ns(*end_ns - start_ns))};
  }
  Recording part = *this;
  part.cut_.emplace();
  if (from_ns) part.cut_->from_ns = start_ns + *from_ns;
  if (to_ns) part.cut_->to_ns = start_ns + *to_ns;
  return part;
}

Result<std::unique_ptr<Collected>> collect_as_written(const Recording& recording, TableSet tables) {
  auto collected = std::make_unique<Collected>();
  TRY(recording.read(tables, [&](const Batch& batch) -> Status {
    add_translated(batch, collected->names, collected->rows);
    return {};
  }));
  keep_last(collected->rows);
  return collected;
}

void add_damage(const Recording& recording, Collected& collected) {
  const std::string damage = recording.damage();
  if (damage.empty()) return;
  for (Run& run : collected.rows.of<Run>()) {
    const std::string before(collected.text(run.damage));
    run.damage = collected.names.string(join_damage(before, damage));
  }
}

std::string damage_of(const Recording& recording, const Collected& as_written) {
  std::string told;
  for (const Run& run : as_written.rows.of<Run>())
    told = join_damage(told, as_written.text(run.damage));
  return join_damage(told, recording.damage());
}

Result<std::unique_ptr<Collected>> collect(const Recording& recording, TableSet tables) {
  TRY_ASSIGN(auto collected, collect_as_written(recording, tables));
  add_damage(recording, *collected);
  return collected;
}

std::string unwritten_damage(int64_t records, const Error& why) {
  const bool full = why.message.ends_with(std::generic_category().message(ENOSPC));
  return fmt::format("{}{} {} {}, of whatever probe", full ? "the disk was full: " : "",
                     format_count(records), records == 1 ? "record" : "records", kUnwritten) +
         (full ? "" : " (" + printable(why.message) + ")");
}

bool damage_left_unwritten(std::string_view damage) {
  return damage.find(kUnwritten) != std::string_view::npos;
}

bool damage_took_records(std::string_view damage) {
  for (const std::string_view word : {"damaged", "is gone", "was written with"}) {
    if (damage.find(word) != std::string_view::npos) return true;
  }
  return false;
}

std::string join_damage(std::string_view before, std::string_view now) {
  return fmt::format("{}{}{}", before, before.empty() || now.empty() ? "" : "; ", now);
}

}  // namespace fathom
