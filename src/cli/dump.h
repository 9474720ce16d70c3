// SPDX-License-Identifier: Apache-2.0
// What a job holds, brought here: lines of JSON or CSV as the hub gives them, CSV of rows made of
// those lines, Parquet by DuckDB on this machine.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/hub_api.h"

namespace fathom {

struct DumpWish {
  int64_t job = 0;
  bool rows = false;
  std::string as;    // lines, csv or parquet
  std::string file;  // empty: stdout
};

Status dump_job(HubApi& api, const DumpWish& wish);

// Asks on the terminal.
Result<bool> confirm_removal(const HubJob& job);

}  // namespace fathom
