// SPDX-License-Identifier: Apache-2.0
#include "record/run_json.h"

#include "record/row_text.h"

namespace fathom {

std::string run_json(const Collected& collected) {
  RowText text(collected.names.dictionary(), collected.rows);
  const std::vector<Run>& runs = collected.rows.of<Run>();
  std::string json = "{\n  \"format\": 1,\n  \"run\": ";
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

}  // namespace fathom
