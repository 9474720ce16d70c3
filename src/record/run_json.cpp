// SPDX-License-Identifier: Apache-2.0
#include "record/run_json.h"

#include "base/text.h"

namespace fathom {
namespace {

std::string value_json(const Collected&, int64_t value) { return std::to_string(value); }
std::string value_json(const Collected&, const Maybe& value) { return value ? std::to_string(*value) : "null"; }
std::string value_json(const Collected& collected, StringId id) {
  return id == StringId::kNone ? "null" : json_quote(collected.text(id));
}

template <class Record>
std::string record_json(const Collected& collected, const Record& record, const std::string& indent) {
  std::string json = "{";
  for_each_field<Record>([&](const auto& field, uint32_t) {
    json += json.size() == 1 ? "\n" : ",\n";
    json += indent + "  " + json_quote(field.name) + ": " + value_json(collected, record.*field.member);
  });
  return json + "\n" + indent + "}";
}

}  // namespace

std::string run_json(const Collected& collected) {
  const std::vector<Run>& runs = collected.rows.of<Run>();
  std::string json = "{\n  \"format\": 1,\n  \"run\": ";
  json += runs.empty() ? "null" : record_json(collected, runs.front(), "  ");
  json += ",\n  \"probes\": [";
  std::string separator = "\n    ";
  for (const ProbeStatus& probe : collected.rows.of<ProbeStatus>()) {
    json += separator + record_json(collected, probe, "    ");
    separator = ",\n    ";
  }
  json += separator.front() == ',' ? "\n  ]\n}\n" : "]\n}\n";
  return json;
}

}  // namespace fathom
