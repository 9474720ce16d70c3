// SPDX-License-Identifier: Apache-2.0
#include "cli/rows_csv.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace fathom {
namespace {

Result<std::string> csv_of(const std::string& lines) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(tmpfile(), fclose);
  fwrite(lines.data(), 1, lines.size(), file.get());
  std::string csv;
  TRY(write_rows_csv(file.get(), [&](std::string_view text) -> Status {
    csv += text;
    return {};
  }));
  return csv;
}

TEST(RowsCsv, AColumnForEachFigureThatAnyRowHas) {
  EXPECT_EQ(
      csv_of(
          "{\"Exectime\":\"1.500000\",\"cpu-clock\":7,\"fathom\":{\"host\":\"h,1\",\"run\":\"r\","
          "\"time\":\"t1\",\"units\":{\"Exectime\":\"s\",\"cpu-clock\":\"ns\"}}}\n"
          "{\"a\\n\\\"\":-3,\"fathom\":{\"host\":\"h\",\"run\":\"r2\",\"time\":\"t2\","
          "\"units\":{}}}\n")
          .value(),
      "host,run,time,Exectime [s],cpu-clock [ns],\"a\n\"\"\"\n"
      "\"h,1\",r,t1,1.500000,7,\n"
      "h,r2,t2,,,-3\n");
}

TEST(RowsCsv, NoRowsAreAHeaderAndNonsenseIsAnError) {
  EXPECT_EQ(csv_of("").value(), "host,run,time\n");
  EXPECT_EQ(csv_of("{\"Exectime\":\"1\"}\n").error().message, "row 1 of the hub's makes no sense");
  EXPECT_FALSE(csv_of("nonsense").ok());
}

}  // namespace
}  // namespace fathom
