// SPDX-License-Identifier: Apache-2.0
// The facts of a run as a small JSON document, for people and scripts that do not read Parquet.
#pragma once

#include <string>

#include "record/recording.h"

namespace fathom {

// {"format": 1, "tables": {"runs": 1, …}, "run": {…}, "probes": [{…}, …]}: how many rows each table
// has, and the rows of two of them. A value that is absent is null.
std::string run_json(const Collected& collected, const TableList& tables);

// The tables that such a document names; none if it names none, as those of older versions.
TableList tables_in_run_json(std::string_view json);

}  // namespace fathom
