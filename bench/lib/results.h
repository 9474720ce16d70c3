// SPDX-License-Identifier: Apache-2.0
// Results of benchmarks in C++, of which bench/all makes the tables of the documentation. The
// counterpart of bench/lib/results.py. Thread-safe and safe across fork: a row is one write.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace fathom {

// Adds one row to the results of `name`. A cell is a column and its text; all rows of one name have
// the same columns. Does nothing without FATHOM_BENCH_RESULTS.
inline void record_row(std::string_view name,
                       const std::vector<std::pair<std::string_view, std::string>>& cells) {
  const char* directory = getenv("FATHOM_BENCH_RESULTS");  // NOLINT(concurrency-mt-unsafe)
  if (directory == nullptr) return;
  std::string line = "{\"row\":{";
  for (const auto& [column, text] : cells) {
    if (line.back() != '{') line += ',';
    line += json_quote(column) + ":" + json_quote(text);
  }
  line += "}}\n";
  const std::string path = fmt::format("{}/{}.jsonl", directory, name);
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "ae"), fclose);
  if (file == nullptr || fwrite(line.data(), 1, line.size(), file.get()) != line.size())
    fmt::print(stderr, "{}: cannot be written\n", path);
}

}  // namespace fathom
