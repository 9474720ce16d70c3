// SPDX-License-Identifier: Apache-2.0
#include "cli/report_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/fd.h"
#include "base/gzip.h"
#include "base/log.h"
#include "base/text.h"
#include "base/text_style.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/profile_sources.h"
#include "cli/terminal.h"

namespace fathom {
namespace {

// Where a picture goes that was asked for on a terminal: beside what it is of, in place of an
// earlier one but of no other file.
Result<std::string> picture_path(const std::string& source, const ReportInfo& report) {
  const std::string path = source_name(source) + report.extension;
  const auto start = read_start(path, 256);
  if (start.ok() && start.value().find(report.mark) == std::string::npos) {
    return Error{Code::kExists, path + " is there and not made by fathom",
                 "choose another name: fathom report " + shell_quote(source) + " --as " +
                     report.name + " -o FILE" + report.extension};
  }
  return path;
}

Status check_not_foreign(std::string_view path) {
  for (const char* foreign : {".png", ".pdf", ".jpg", ".jpeg", ".gif", ".webp"}) {
    if (path.ends_with(foreign))
      return Error{Code::kInvalid, fmt::format("no report is written as {}", foreign + 1),
                   "-o NAME.svg for a picture, -o NAME.html for a page; a browser prints both"};
  }
  return {};
}

// A file that ends in .gz is packed.
Result<std::FILE*> create_output(const std::string& path) {
  TRY(check_not_foreign(path));
  if (path.ends_with(".gz")) return create_gzip(path);
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return errno_error("open " + path);
  return file;
}

GroupBy group_by_from(std::string_view name) {
  if (name == "host") return GroupBy::kHost;
  if (name == "process") return GroupBy::kProcess;
  if (name == "thread") return GroupBy::kThread;
  if (name == "rank") return GroupBy::kRank;
  return name == "config" ? GroupBy::kConfig : GroupBy::kNone;
}

// Of flags that only some of the commands have.
bool is_given(const Arguments& arguments, std::string_view flag) {
  return find_flag(arguments.command(), flag) != nullptr && arguments.has(flag);
}

Status read_times(const Arguments& arguments, ProfileFilter& filter) {
  if (arguments.has("from")) {
    TRY_ASSIGN(filter.from_ns, arguments.duration("from"));
  }
  if (arguments.has("to")) {
    TRY_ASSIGN(filter.to_ns, arguments.duration("to"));
  }
  if (filter.from_ns && filter.to_ns && *filter.from_ns >= *filter.to_ns) {
    return Error{Code::kInvalid,
                 fmt::format("--from {} is not before --to {}", arguments.text("from"),
                             arguments.text("to")),
                 "both are times after the start: --from 1s --to 2500ms"};
  }
  return {};
}

ReportOptions::Width width_from(std::string_view name) {
  if (name == "before") return ReportOptions::Width::kBefore;
  return name == "after" ? ReportOptions::Width::kAfter : ReportOptions::Width::kBoth;
}

}  // namespace

Result<std::string_view> format_of_name(std::string_view output,
                                        std::span<const NamedFormat> formats,
                                        std::string_view fallback) {
  if (output.ends_with(".gz")) output.remove_suffix(3);
  const std::string_view name = output.substr(output.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size()) return fallback;
  std::string known = "*.txt";
  for (const auto& [suffix, format] : formats) {
    if (name.ends_with(suffix)) return format;
    known += ", *" + std::string(suffix);
  }
  const std::string_view suffix = name.substr(dot);
  if (suffix == ".txt") return fallback;
  TRY(check_not_foreign(name));
  return Error{Code::kInvalid,
               fmt::format("no report format has the suffix '{}'", printable(suffix)),
               fmt::format("name the file {}, or choose the format with --as FORMAT", known)};
}

Status read_report_flags(const Arguments& arguments, ReportOptions& options) {
  options.filter.event = arguments.text("event");
  options.filter.process = arguments.text("process");
  options.filter.thread = arguments.text("thread");
  options.filter.lines = arguments.has("lines");
  if (is_given(arguments, "table")) options.table = arguments.text("table");
  if (is_given(arguments, "function")) options.function = arguments.text("function");
  if (is_given(arguments, "group-by"))
    options.filter.group_by = group_by_from(arguments.text("group-by"));
  if (arguments.has("rate")) {
    TRY_ASSIGN(options.filter.rate_hz, arguments.number("rate"));
  }
  TRY(read_times(arguments, options.filter));
  options.normalised = !arguments.has("amounts");
  options.width = width_from(arguments.text("width"));
  if (is_given(arguments, "contained")) {
    const std::string contained = arguments.text("contained");
    options.contained = contained == "yes"  ? ReportOptions::Contained::kYes
                        : contained == "no" ? ReportOptions::Contained::kNo
                                            : ReportOptions::Contained::kAuto;
  }
  if (arguments.has("limit")) {
    TRY_ASSIGN(const int64_t limit, arguments.number("limit"));
    if (limit < 0) return Error{Code::kInvalid, "--limit is a number of rows; 0 shows all"};
    options.limit = static_cast<size_t>(limit);
  }
  if (is_given(arguments, "nodes")) options.nodes = arguments.text("nodes");
  if (is_given(arguments, "generation"))
    options.generation = arguments.text("generation")[0] - '0';  // one of its choices
  if (!is_given(arguments, "min-share")) return {};
  TRY_ASSIGN(const double percent, arguments.real("min-share"));
  if (!(percent >= 0 && percent <= 100))
    return Error{Code::kInvalid, "--min-share is a percentage from 0 to 100"};
  options.min_share = percent / 100;
  return {};
}

namespace {

Status write_sources(const ReportInfo& report, const std::vector<ProfileSource>& sources,
                     const ReportOptions& options) {
  if (report.write_all != nullptr) return report.write_all(sources, options);
  const Recording& recording = *sources.front().recording;
  const ProfileFilter& filter = options.filter;
  if (!report.of_part || (!filter.from_ns && !filter.to_ns))
    return report.write(recording, options);
  TRY_ASSIGN(const Recording part, recording.between(filter.from_ns, filter.to_ns));
  return report.write(part, options);
}

Status write_output(const Arguments& arguments, const ReportInfo& report,
                    const std::vector<ProfileSource>& sources, ReportOptions options) {
  std::string aside;
  options.aside = &aside;
  options.columns = output_columns();
  options.colours = colours_wanted(STDOUT_FILENO);
  std::string output = arguments.text("output");
  if (report.write_files != nullptr)
    return report.write_files(*sources.front().recording, output.empty() ? "." : output);
  if (output == "-") output.clear();
  const bool beside =
      arguments.text("output").empty() && report.extension != nullptr && isatty(STDOUT_FILENO) != 0;
  if (beside) {
    TRY_ASSIGN(output, picture_path(sources.front().path, report));
  }
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(nullptr, std::fclose);
  if (!output.empty()) {
    TRY_ASSIGN(std::FILE * created, create_output(output));
    file.reset(created);
    options.out = file.get();
    options.columns = kAnyWidth;
    options.colours = false;
  }
  Status written = write_sources(report, sources, options);
  if (written.ok() && std::fflush(options.out) != 0) written = errno_error("write the report");
  if (file && std::fclose(file.release()) != 0 && written.ok())
    written = errno_error("write " + output);
  if (!written.ok()) {
    std::error_code ignored;  // a part of a page would pass for the whole
    if (std::filesystem::is_regular_file(output, ignored)) std::filesystem::remove(output, ignored);
    return written;
  }
  if (!aside.empty()) log_info("{}", aside);
  if (beside) {
    TRY(print_out(output + "\n"));
  }
  return {};
}

// What a report failed for, or lacks: a report of what is left is no success.
Status check_tables(const std::vector<ProfileSource>& sources, bool written) {
  for (const ProfileSource& source : sources) {
    if (!source.recording || source.recording->damaged_tables().empty()) continue;
    return Error{Code::kCorrupt, source.path + ": " + source.recording->damage(),
                 (written ? "the report is of the rest; " : "other reports may do without it; ") +
                     source.recording->remedy()};
  }
  return {};
}

// Whether a report may have failed for want of what a damaged table held.
bool may_lack_rows(Code code) {
  return code == Code::kNotFound || code == Code::kInvalid || code == Code::kCorrupt;
}

}  // namespace

Status write_report(const Arguments& arguments, const ReportInfo& report,
                    const std::vector<ProfileSource>& sources, ReportOptions options) {
  Status written = write_output(arguments, report, sources, std::move(options));
  if (!written.ok() && !may_lack_rows(written.error().code)) return written;
  TRY(check_tables(sources, written.ok()));
  return written;
}

}  // namespace fathom
