// SPDX-License-Identifier: Apache-2.0
// The table form of a recording: Parquet files written and read through DuckDB. Needs libduckdb at
// run time (kUnsupported with a hint where it is absent). Calls may run on any thread, one at a
// time per recording.
#pragma once

#include <string>

#include "base/result.h"
#include "record/recording.h"

namespace fathom {

// Reads `tables` of a folder in table form as batches.
Status read_tables(const Recording& recording, TableSet tables, const Recording::Visit& visit);

// Writes the tables of a journal beside it and removes the journal last; a kill at any point loses
// nothing.
Status convert_journal(const Recording& recording);

}  // namespace fathom
