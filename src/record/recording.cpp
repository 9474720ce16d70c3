// SPDX-License-Identifier: Apache-2.0
#include "record/recording.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.h"
#include "record/merge.h"
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
  if (!exists(path) && exists(path + kFolderSuffix)) recording.path_ = path + kFolderSuffix;
  while (recording.path_.size() > 1 && recording.path_.ends_with('/')) recording.path_.pop_back();
  std::string journal_path = recording.path_ + "/" + kJournalName;
  if (fs::is_regular_file(recording.path_, ignored)) {
    if (recording.path_.ends_with(".tar")) {
      return Error{Code::kInvalid, path + " is a packed recording", "fathom unpack " + path};
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
    recording.damage_ = recording.describe_damage();
    return recording;
  }
  if (exists(recording.table_path(TableOf<Run>::kName))) return recording;
  if (!exists(recording.path_)) {
    return Error{Code::kNotFound, "no recording " + path,
                 "make one with: fathom run -o NAME -- COMMAND"};
  }
  return Error{Code::kInvalid, path + " is not a recording: it has neither a journal nor tables"};
}

std::string Recording::table_path(const char* table) const {
  return path_ + "/" + table + ".parquet";
}

std::string Recording::describe_damage() const {
  if (!journal_) return {};
  const JournalHealth& health = journal_->health();
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
    text += in_use() ? "the run is still being recorded: " : "the recorder was killed: ";
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
  if (!journal_) return read_tables(*this, tables, visit);
  for (const JournalReader::Entry& entry : journal_->entries()) {
    if ((entry.header.tables & tables) == 0) continue;
    TRY_ASSIGN(const Batch batch, journal_->read(entry, tables));
    TRY(visit(batch));
  }
  return {};
}

Result<std::unique_ptr<Collected>> collect(const Recording& recording, TableSet tables) {
  auto collected = std::make_unique<Collected>();
  TRY(recording.read(tables, [&](const Batch& batch) -> Status {
    add_translated(batch, collected->names, collected->rows);
    return {};
  }));
  keep_last(collected->rows);
  if (const std::string& damage = recording.damage(); !damage.empty()) {
    for (Run& run : collected->rows.of<Run>()) run.damage = collected->names.string(damage);
  }
  return collected;
}

}  // namespace fathom
