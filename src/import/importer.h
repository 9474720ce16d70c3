// SPDX-License-Identifier: Apache-2.0
// Foreign formats in, recordings out: one file per format. An importer reads a whole file and
// writes records; it never guesses which format a file has, only says whether the first bytes could
// be its own.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sink/record_stream.h"

namespace fathom {

struct ImportCounts {
  int64_t lines = 0;          // or events, as the format has them
  int64_t skipped = 0;        // not understood, and left out
  int64_t first_skipped = 0;  // the number of the first such line; 0: not known
  // The first and the last time of what was read; absent: it has no times.
  std::optional<std::pair<int64_t, int64_t>> range = {};
  bool has_real_time = false;  // the times are of this machine's clock, not since some start

  void add_time(int64_t from_ns, int64_t to_ns) {
    if (!range) range = {from_ns, to_ns};
    range->first = std::min(range->first, from_ns);
    range->second = std::max(range->second, to_ns);
  }
};

struct ImporterInfo {
  const char* name;
  const char* summary;
  // Whether a file that begins like this could be of this format.
  bool (*matches)(std::string_view start);
  Result<ImportCounts> (*read)(const std::string& path, RecordStream& out);
};

// The table of importers: one line each in all_importers.cpp. The most particular format stands
// first.
std::span<const ImporterInfo> all_importers();
// By name; with an empty name, the first that could read `path`.
Result<const ImporterInfo*> find_importer(std::string_view name, const std::string& path);

}  // namespace fathom
