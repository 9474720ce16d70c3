// SPDX-License-Identifier: Apache-2.0
#include "report/schema_text.h"

#include <gtest/gtest.h>

#include "base/fd.h"
#include "record/column.h"
#include "support/folders.h"

namespace fathom {
namespace {

// To bring the document up to date: keep it up to "## Tables" and its paragraph, and append the
// output of `fathom query --schema --markdown`.
TEST(SchemaTextTest, TheDocumentSaysWhatTheSchemaSays) {
  const auto document = read_file(source_folder() + "/docs/formats/recording.md");
  ASSERT_TRUE(document.ok()) << document.error().message;
  const size_t start = document.value().find("### runs\n");
  ASSERT_NE(start, std::string::npos);
  EXPECT_EQ(document.value().substr(start), schema_markdown());
}

TEST(SchemaTextTest, EveryColumnHasAMeaning) {
  for (const TableColumns& table : all_tables()) {
    EXPECT_STRNE(table.help, "") << table.name;
    for (const Column& column : table.columns)
      EXPECT_STRNE(column.help, "") << table.name << "." << column.name;
  }
}

TEST(SchemaTextTest, TheTextNamesTablesColumnsAndUnits) {
  const std::string text = schema_text();
  EXPECT_NE(text.find("\nspans: "), std::string::npos);
  EXPECT_NE(text.find("duration_ns"), std::string::npos);
  EXPECT_NE(text.find("how long [ns]"), std::string::npos);
  EXPECT_NE(text.find("\nstacks: "), std::string::npos);
}

}  // namespace
}  // namespace fathom
