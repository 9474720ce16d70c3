// SPDX-License-Identifier: Apache-2.0
#include "record/recording.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.h"
#include "record/merge.h"
#include "record/run_json.h"
#include "record/tables.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

}  // namespace

Result<Recording> Recording::open(const std::string& path) {
  Recording recording;
  recording.path_ = path;
  std::error_code ignored;
  // A file of that name is mostly the program that was recorded.
  const bool named = exists(path + kFolderSuffix) && !fs::is_directory(path, ignored);
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
    const auto json = read_file(recording.path_ + "/" + kRunFileName);
    if (json.ok()) recording.tables_ = tables_in_run_json(json.value());
    return recording;
  }
  if (!exists(recording.path_)) {
    return Error{Code::kNotFound, "no recording " + path,
                 "make one with: fathom run -o NAME -- COMMAND"};
  }
  return Error{Code::kCorrupt, path + " is not a recording: it has neither a journal nor tables"};
}

std::string Recording::table_path(const char* table) const {
  return path_ + "/" + table + ".parquet";
}

void Recording::found_rows(const char* table, int64_t rows) const {
  const std::lock_guard lock(found_->mutex);
  found_->tables[table] = rows;
}

std::string Recording::damage() const {
  if (journal_) return journal_damage();
  std::vector<std::string> parts;
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
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string Recording::journal_damage() const {
  const JournalHealth health = journal_->health();
  std::string text;
  if (health.damaged_places > 0) {
    text = fmt::format("{} bytes are damaged in {} place{}; {} whole frames ({}) were saved",
                       health.damaged_bytes, health.damaged_places,
                       health.damaged_places == 1 ? "" : "s", health.frames,
                       format_bytes(static_cast<double>(health.file_bytes - health.damaged_bytes -
                                                        health.torn_bytes)));
  }
  if (!health.sealed) {
    if (!text.empty()) text += "; ";
    text += use_ == JournalUse::kInUse  ? "the run is still being recorded: "
            : use_ == JournalUse::kFree ? "the recorder was killed: "
                                        : "the recorder was killed, or still writes (no file locks "
                                          "here to tell by): ";
    text += health.torn_bytes > 0
                ? fmt::format("the last {} bytes were being written and are left out",
                              health.torn_bytes)
                : std::string("shown is what it had written by then");
  } else if (health.torn_bytes > 0) {
    if (!text.empty()) text += "; ";
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
  for (const JournalReader::Entry& entry : journal_->entries()) {
    if ((entry.header.tables & tables) == 0) continue;
    TRY_ASSIGN(Batch batch, journal_->read(entry, tables));
    if (cut_) cut_rows(batch.rows, *cut_);
    TRY(visit(batch));
  }
  return {};
}

Result<Recording> Recording::between(Maybe from_ns, Maybe to_ns) const {
  TRY_ASSIGN(const auto tables, collect_as_written(*this, tables_of<Run>()));
  const std::vector<Run>& runs = tables->rows.of<Run>();
  const int64_t start_ns = runs.empty() ? 0 : runs.front().start_ns;
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
  const bool told_before = recording.form() == Recording::Form::kTables;
  for (Run& run : collected.rows.of<Run>()) {
    const std::string before(told_before ? collected.text(run.damage) : "");
    run.damage = collected.names.string(join_damage(before, damage));
  }
}

Result<std::unique_ptr<Collected>> collect(const Recording& recording, TableSet tables) {
  TRY_ASSIGN(auto collected, collect_as_written(recording, tables));
  add_damage(recording, *collected);
  return collected;
}

std::string join_damage(std::string_view before, std::string_view now) {
  return fmt::format("{}{}{}", before, before.empty() || now.empty() ? "" : "; ", now);
}

}  // namespace fathom
