// SPDX-License-Identifier: Apache-2.0
// One reader over a recording in either form: a folder with a journal (sealed, torn or still being
// written) or a folder of Parquet tables. Commands and reports read recordings through this and
// nothing else. While a journal stands in the folder it is the truth; tables beside it are an
// unfinished conversion. Const members may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/batch.h"
#include "record/journal.h"

namespace fathom {

constexpr const char* kJournalName = "journal";
constexpr const char* kRunFileName = "run.json";
constexpr const char* kFolderSuffix = ".fathom";

class Recording {
 public:
  // `path` is the folder, or the journal file itself. "NAME" also finds "NAME.fathom".
  static Result<Recording> open(const std::string& path);

  enum class Form { kJournal, kTables };
  [[nodiscard]] Form form() const { return journal_ ? Form::kJournal : Form::kTables; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string table_path(const char* table) const;
  [[nodiscard]] const JournalReader* journal() const { return journal_.get(); }

  // Whether a recorder is still writing it.
  [[nodiscard]] bool in_use() const { return journal_ && journal_in_use(journal_path_); }
  // One sentence on what is missing, empty for a complete recording.
  [[nodiscard]] const std::string& damage() const { return damage_; }

  // Gives every record of `tables`, batch by batch. A keyed record may come more than once: the
  // last counts.
  using Visit = std::function<Status(const Batch&)>;
  [[nodiscard]] Status read(TableSet tables, const Visit& visit) const;

 private:
  [[nodiscard]] std::string describe_damage() const;

  std::string path_, journal_path_, damage_;  // as it was when it was opened
  std::shared_ptr<JournalReader> journal_;
};

// The records of some tables in memory with one dictionary, keyed ones merged. For small tables.
struct Collected {
  Interner names;
  Rows rows;

  [[nodiscard]] std::string_view text(StringId id) const { return names.text(id); }
};
[[nodiscard]] Result<std::unique_ptr<Collected>> collect(const Recording& recording,
                                                         TableSet tables);

}  // namespace fathom
