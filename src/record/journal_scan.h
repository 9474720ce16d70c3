// SPDX-License-Identifier: Apache-2.0
// Journals as tables in DuckDB: the table function fathom_journal(RECORDING, TABLE) gives the rows
// of a table straight from the frames, without a copy on disk or a table in memory; keyed records
// come merged, and frames that do not hold the table are not read. Rows of different frames may
// come in any order. DuckDB calls it from its own threads.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/duckdb.h"
#include "record/recording.h"

namespace fathom {

// Makes `recordings` known to the database of `connection`, numbered from 0. They must stay until
// it closes.
Status register_journal_scan(DuckConnection& connection, std::span<const Recording> recordings);

// "fathom_journal(0, 6)", for a FROM. `table` is a number of all_tables().
std::string journal_scan_sql(size_t recording, size_t table);

// Bit t is set if a journal holds rows for table t of all_tables().
uint32_t tables_in_journal(const JournalReader& journal);

}  // namespace fathom
