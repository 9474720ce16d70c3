// SPDX-License-Identifier: Apache-2.0
#include "cli/run_results.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/log.h"
#include "base/text.h"
#include "base/text_style.h"
#include "cli/cli.h"
#include "cli/profile_sources.h"
#include "cli/terminal.h"
#include "record/recording.h"

namespace fathom {
namespace {

// The defaults for a directory; those that the recording has nothing for are skipped.
constexpr std::array kUsual = {"sizing", "plot", "html", "output.json", "stats.csv"};
constexpr std::array<std::pair<std::string_view, const char*>, 5> kExtensions = {
    {{"json", ".json"},
     {"csv", ".csv"},
     {"markdown", ".md"},
     {"diff-json", ".json"},
     {"folded", ".folded"}}};

Status write_one(const ReportInfo& report, const Recording& recording, const std::string& path) {
  ReportOptions options;
  std::string aside;
  options.aside = &aside;
  options.columns = kAnyWidth;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"), std::fclose);
  if (!file) return errno_error("open " + path);
  options.out = file.get();
  if (auto written = report.write(recording, options); !written.ok()) {
    (void)unlink(path.c_str());  // no file rather than an empty one
    return written;
  }
  if (std::fclose(file.release()) != 0) return errno_error("write " + path);
  return {};
}

Status print_one(const ReportInfo& report, const Recording& recording, std::FILE* out, int fd) {
  ReportOptions options;
  std::string aside;
  options.aside = &aside;
  options.out = out;
  options.columns = isatty(fd) != 0 ? terminal_columns(fd) : kAnyWidth;
  options.colours = colours_wanted(fd);
  TRY(report.write(recording, options));
  if (std::fflush(out) != 0) return errno_error("write the report");
  return {};
}

}  // namespace

std::string result_file(const ReportInfo& report) {
  const std::string name = report.name;
  if (name.find('.') != std::string::npos) return name;
  if (report.extension != nullptr)
    return (name == "html" ? std::string("report") : name) + report.extension;
  for (const auto& [known, extension] : kExtensions)
    if (known == name) return name + extension;
  return name + ".txt";
}

Result<RunResults> RunResults::from(const Arguments& arguments) {
  RunResults results;
  results.quiet_ = arguments.has("quiet");
  results.folder_ = arguments.text("results");
  for (const std::string& name : arguments.list("as")) {
    TRY_ASSIGN(const ReportInfo* report, find_report(name));
    if (std::find(results.reports_.begin(), results.reports_.end(), report) ==
        results.reports_.end())
      results.reports_.push_back(report);
  }
  if (results.folder_.empty()) return results;
  if (results.reports_.empty()) {
    results.defaults_ = true;
    for (const char* name : kUsual) {
      TRY_ASSIGN(const ReportInfo* report, find_report(name));
      results.reports_.push_back(report);
    }
  }
  std::error_code error;
  std::filesystem::create_directories(results.folder_, error);
  if (error || access(results.folder_.c_str(), W_OK) != 0)
    return Error{Code::kInvalid,
                 "cannot write into " + printable(results.folder_) +
                     (error ? ": " + error.message() : std::string()),
                 "--results names a folder of yours"};
  return results;
}

bool RunResults::write(const std::string& path) const {
  const auto recording = Recording::open(path);
  if (!recording.ok()) {
    log_failure(recording.error());
    return false;
  }
  bool all = true;
  for (const ReportInfo* report : reports_) {
    const bool text = report->extension == nullptr;
    Status written;
    if (report->write_files != nullptr) {
      written = report->write_files(recording.value(), folder_.empty() ? "." : folder_);
    } else if (!folder_.empty()) {
      const std::string file = folder_ + "/" + result_file(*report);
      written = write_one(*report, recording.value(), file);
      if (written.ok() && std::string_view(report->name) == "sizing" && !quiet_)
        written = print_one(*report, recording.value(), stderr, STDERR_FILENO);
      if (written.ok() && !quiet_) log_info("wrote {}", file);
    } else if (text) {
      written = print_one(*report, recording.value(), stdout, STDOUT_FILENO);
    } else {
      const std::string file = source_name(path) + report->extension;
      written = write_one(*report, recording.value(), file);
      if (written.ok() && !quiet_) log_info("wrote {}", file);
    }
    if (written.ok()) continue;
    if (defaults_ && written.error().code == Code::kNotFound) {
      if (!quiet_) log_info("skipped {}: {}", result_file(*report), written.error().message);
      continue;
    }
    log_failure(std::move(written).error().within(std::string("report ") + report->name),
                LogLevel::kWarning);
    all = false;
  }
  return all;
}

}  // namespace fathom
