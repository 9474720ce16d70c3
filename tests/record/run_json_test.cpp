// SPDX-License-Identifier: Apache-2.0
#include "record/run_json.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(RunJsonTest, AbsentIsNull) {
  Collected collected;
  fathom::Run run;
  run.id = collected.names.string("20240229-x");
  run.command = collected.names.string("echo \"ä\xFF\"");
  run.exit_status = 0;
  collected.rows.of<fathom::Run>().push_back(run);
  ProbeStatus probe;
  probe.probe = collected.names.string("io");
  probe.seen = INT64_MAX;
  collected.rows.of<ProbeStatus>().push_back(probe);
  const std::string json = run_json(collected, {{"probes", 1}, {"runs", 1}});
  EXPECT_TRUE(
      json.starts_with("{\n  \"format\": 1,\n  \"tables\": {\"probes\": 1, \"runs\": 1},\n  "
                       "\"run\": {\n    \"id\": \"20240229-x\",\n    \"label\": null,\n"));
  EXPECT_NE(json.find("\"command\": \"echo \\\"ä\uFFFD\\\"\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"exit_status\": 0,\n    \"exit_signal\": null"), std::string::npos) << json;
  EXPECT_NE(json.find("\"seen\": 9223372036854775807"), std::string::npos) << json;
  EXPECT_TRUE(json.ends_with("    }\n  ]\n}\n")) << json;
}

TEST(RunJsonTest, NothingIsStillADocument) {
  EXPECT_EQ(run_json(Collected(), {}),
            "{\n  \"format\": 1,\n  \"tables\": {},\n  \"run\": null,\n  \"probes\": []\n}\n");
}

TEST(RunJsonTest, SaysWhichTablesThereAre) {
  Collected collected;
  fathom::Run run;
  run.command = collected.names.string("echo '\n  \"tables\": {\"spans\": 7}'");
  collected.rows.of<fathom::Run>().push_back(run);
  const TableList tables = {{"gauges", INT64_MAX}, {"runs", 1}};
  EXPECT_EQ(tables_in_run_json(run_json(collected, tables)), tables);
  EXPECT_EQ(tables_in_run_json(run_json(collected, {})), TableList());
}

TEST(RunJsonTest, OtherDocumentsNameNoTables) {
  for (const char* json : {"", "{}", "{\n  \"format\": 1,\n  \"run\": null\n}\n",
                           "{\n  \"tables\": {\"runs\": many}", "{\n  \"tables\": {runs, 1}"}) {
    EXPECT_TRUE(tables_in_run_json(json).empty()) << json;
  }
}

}  // namespace
}  // namespace fathom
