// SPDX-License-Identifier: Apache-2.0
#include "base/duckdb_api.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(DuckApiTest, AnAbsentLibrarySaysWhatToDo) {
  const auto api = load_duck_api("/nowhere/libduckdb.so");
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().code, Code::kUnsupported);
  EXPECT_NE(api.error().hint.find("FATHOM_DUCKDB"), std::string::npos);
}

TEST(DuckApiTest, AnotherLibraryIsNotTaken) {
  const auto api = load_duck_api("libm.so.6");
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace fathom
