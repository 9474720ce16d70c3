// SPDX-License-Identifier: Apache-2.0
// One reader over a recording in either form: a folder with a journal (sealed, torn or still being
// written) or a folder of Parquet tables. Commands and reports read recordings through this and
// nothing else. While a journal stands in the folder it is the truth; tables beside it are an
// unfinished conversion. Const members may be called from any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/batch.h"
#include "record/checksums.h"
#include "record/journal.h"
#include "record/time_cut.h"

namespace fathom {

constexpr const char* kJournalName = "journal";
constexpr const char* kRunFileName = "run.json";
constexpr const char* kConvertingName = ".converting";  // a conversion under way
constexpr const char* kFolderSuffix = ".fathom";

// The tables of a recording and how many rows each has.
using TableList = std::map<std::string, int64_t, std::less<>>;

class Recording {
 public:
  // `path` is the folder, or the journal file itself. "NAME" also finds "NAME.fathom".
  static Result<Recording> open(const std::string& path);

  enum class Form { kJournal, kTables };
  [[nodiscard]] Form form() const { return journal_ ? Form::kJournal : Form::kTables; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string table_path(const char* table) const;
  [[nodiscard]] const JournalReader* journal() const { return journal_.get(); }
  // In table form: the tables as they were made; none where run.json does not say.
  [[nodiscard]] const TableList& written_tables() const { return tables_; }
  // In table form: says how many rows a table has, to be compared with what was written.
  void found_rows(const char* table, int64_t rows) const;
  // In table form: says that a table cannot be read; reading goes on with the others.
  void found_damaged(const char* table) const;
  // In table form: kCorrupt if a table's file is not as it was written, where `checksums` says how.
  // To be asked before a table is read; the file is gone through once.
  [[nodiscard]] Status check_table(const char* table) const;
  // What can be done about a damaged table.
  [[nodiscard]] std::string remedy() const;
  // Files of tables that cannot be read, as far as is known by now.
  [[nodiscard]] std::vector<std::string> damaged_tables() const;

  // Whether a recorder is still writing it.
  [[nodiscard]] bool in_use() const { return journal_ && journal_in_use(journal_path_); }
  // One sentence on what is missing, empty for a complete recording. Reading may find more of it.
  [[nodiscard]] std::string damage() const;

  // The same recording, of which only this part of its time is read: so long after its start.
  [[nodiscard]] Result<Recording> between(Maybe from_ns, Maybe to_ns) const;
  [[nodiscard]] const std::optional<TimeCut>& cut() const { return cut_; }

  // Gives every record of `tables`, batch by batch. A keyed record may come more than once: the
  // last counts.
  using Visit = std::function<Status(const Batch&)>;
  [[nodiscard]] Status read(TableSet tables, const Visit& visit) const;

 private:
  [[nodiscard]] std::string journal_damage() const;
  [[nodiscard]] std::string tables_damage() const;
  void open_tables();

  std::string path_, journal_path_;
  JournalUse use_ = JournalUse::kFree;  // when it was opened
  std::optional<TimeCut> cut_;
  std::shared_ptr<JournalReader> journal_;

  struct Found {
    std::mutex mutex;
    TableList tables;
    std::set<std::string> damaged;
    std::set<std::string> whole;  // as `checksums` says
  };
  TableList tables_;     // what run.json says that there is
  Checksums checksums_;  // none: it is not known what was written
  bool checksums_unreadable_ = false;
  std::shared_ptr<Found> found_ = std::make_shared<Found>();
};

// The records of some tables in memory with one dictionary, keyed ones merged. For small tables.
struct Collected {
  Interner names;
  Rows rows;

  [[nodiscard]] std::string_view text(StringId id) const { return names.text(id); }
};
[[nodiscard]] Result<std::unique_ptr<Collected>> collect_as_written(const Recording& recording,
                                                                    TableSet tables);
// Lets the rows of runs say what is known to be missing by now.
void add_damage(const Recording& recording, Collected& collected);
// Both in one.
[[nodiscard]] Result<std::unique_ptr<Collected>> collect(const Recording& recording,
                                                         TableSet tables);
// All that is missing: what the rows of runs said as they were written, and what is known by now.
[[nodiscard]] std::string damage_of(const Recording& recording, const Collected& as_written);
// The recorder's word of what its sink lost.
[[nodiscard]] std::string unwritten_damage(int64_t records, const Error& why);
// Whether such a sentence says that. Records of any table may be among them.
[[nodiscard]] bool damage_left_unwritten(std::string_view damage);
// Whether it says that records were lost after they were written, not only that the end is missing.
[[nodiscard]] bool damage_took_records(std::string_view damage);
// Both sentences, either of which may be empty.
[[nodiscard]] std::string join_damage(std::string_view before, std::string_view now);

}  // namespace fathom
