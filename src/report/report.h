// SPDX-License-Identifier: Apache-2.0
// What reports are: each reads one recording, or several where they are about stacks, and writes
// one format. They never talk to probes. Any
// thread.
#pragma once

#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "record/recording.h"
#include "report/profile_filter.h"
#include "report/profile_source.h"

namespace fathom {

// For a file or a pipe: names stay whole there.
constexpr size_t kAnyWidth = size_t{1} << 24;
constexpr size_t kProseWidth = 80;  // of what is wrapped or drawn, where a line may have any width

struct ReportOptions {
  std::FILE* out = stdout;
  size_t columns = 80;  // no line is wider
  bool colours = false;
  std::string table = {};            // for formats that write one table; empty: the usual one
  ProfileFilter filter = {};         // for formats about stacks
  std::string function = {};         // for callers
  std::optional<size_t> limit = {};  // rows of a table; 0: all; absent: what the format finds right
  int generation = 0;                // of formats that have several
  std::string nodes = {};            // for sizing: the file that describes them
  double min_share = 0.01;           // of a tree: what is less is left out
  // For differences.
  enum class Width { kBoth, kBefore, kAfter };
  Width width = Width::kBoth;  // what boxes are as wide as
  bool normalised = true;      // shares of each side, not amounts
  // Whether one side contains the samples of the other, which are then subtracted from it.
  enum class Contained { kAuto, kYes, kNo };
  Contained contained = Contained::kAuto;
  bool pages = false;            // times are kept, for a page
  std::string* aside = nullptr;  // gets what the reader must know and the format has no place for
};

inline size_t prose_columns(const ReportOptions& options) {
  return options.columns < kAnyWidth ? options.columns : kProseWidth;
}

struct ReportInfo {
  const char* name;
  const char* summary;
  Status (*write)(const Recording& recording, const ReportOptions& options);
  const char* flags = "";           // of `fathom report` that it heeds, with spaces between
  const char* extension = nullptr;  // of a file that is no text for a terminal
  const char* mark = nullptr;       // what stands near the beginning of such a file
  // For reports about stacks: the same of any number of recordings and folded files together.
  Status (*write_all)(ProfileSources sources, const ReportOptions& options) = nullptr;
  bool of_part = false;        // --from and --to cut the recording that it is given
  const char* page = nullptr;  // the report that shows the same as a page, for -o NAME.html
  // Of a format of several files: writes them into a folder, which --output names.
  Status (*write_files)(const Recording& recording, const std::string& folder) = nullptr;
};

// The table of reports: one line each in all_reports.cpp. The first is the default.
std::span<const ReportInfo> all_reports();
// By name; kInvalid with a suggestion.
Result<const ReportInfo*> find_report(std::string_view name);

// Writes and checks: a full disk or closed pipe is an error.
Status print_to(std::FILE* out, std::string_view text);
// The same for data of programs to read, with the recorded names as they are; a terminal gets
// control characters made visible.
Status print_data_to(std::FILE* out, std::string_view text);

}  // namespace fathom
