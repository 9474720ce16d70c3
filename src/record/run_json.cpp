// SPDX-License-Identifier: Apache-2.0
#include "record/run_json.h"

#include <fmt/format.h>

#include "base/scan.h"
#include "base/text.h"
#include "record/row_text.h"

namespace fathom {

namespace {
// Begins a line that no text within the document can have: line breaks in texts are escaped.
constexpr std::string_view kTablesKey = "\n  \"tables\": {";
}  // namespace

std::string run_json(const Collected& collected, const TableList& tables) {
  RowText text(collected.names.dictionary(), collected.rows);
  const std::vector<Run>& runs = collected.rows.of<Run>();
  std::string json = "{\n  \"format\": 1,";
  json += kTablesKey;
  for (const auto& [table, rows] : tables)
    json += fmt::format("{}\"{}\": {}", json.ends_with('{') ? "" : ", ", table, rows);
  json += "},\n  \"run\": ";
  json += runs.empty() ? "null" : text.json(runs.front(), "  ");
  json += ",\n  \"probes\": [";
  std::string separator = "\n    ";
  for (const ProbeStatus& probe : collected.rows.of<ProbeStatus>()) {
    json += separator + text.json(probe, "    ");
    separator = ",\n    ";
  }
  json += separator.front() == ',' ? "\n  ]\n}\n" : "]\n}\n";
  return json;
}

TableList tables_in_run_json(std::string_view json) {
  TableList tables;
  const size_t begin = json.find(kTablesKey);
  if (begin == std::string_view::npos) return tables;
  json.remove_prefix(begin + kTablesKey.size());
  for (const std::string_view part : split_words(json.substr(0, json.find('}')), ',')) {
    const size_t name = part.find('"');
    const size_t end = part.find("\": ", name + 1);
    if (name == std::string_view::npos || end == std::string_view::npos) return {};
    const auto rows = to_number(part.substr(end + 3));
    if (!rows) return {};
    tables.emplace(part.substr(name + 1, end - name - 1), *rows);
  }
  return tables;
}

}  // namespace fathom
