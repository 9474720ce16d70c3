// SPDX-License-Identifier: Apache-2.0
// What a report of several profiles says.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/fd.h"
#include "report/report.h"
#include "support/temp_folder.h"

namespace fathom {

inline std::string report_text(const char* format, const std::vector<ProfileSource>& sources,
                               size_t columns) {
  const TempFolder folder;
  ReportOptions options;
  options.columns = columns;
  options.out = std::fopen((folder / "report").c_str(), "w");
  const auto written = find_report(format).value()->write_all(sources, options);
  EXPECT_TRUE(written.ok()) << written.error().message;
  std::fclose(options.out);
  return read_file(folder / "report").value();
}

}  // namespace fathom
