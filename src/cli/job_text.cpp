// SPDX-License-Identifier: Apache-2.0
#include "cli/job_text.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "base/simdjson.h"
#include "base/text.h"
#include "report/report.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kNodeColumns = 30, kRunColumns = 28, kHostColumns = 16;  // on a terminal

std::string text_in(const dom::object& object, const char* key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? printable(text) : std::string();
}

int64_t number_in(const dom::object& object, const char* key) {
  int64_t number = 0;
  return object[key].get(number) == simdjson::SUCCESS ? number : 0;
}

// "2026-11-15T14:00:00.123Z" as "2026-11-15 14:00:00".
std::string moment(std::string time) {
  if (time.size() > 19) time.resize(19);
  if (time.size() > 10 && time[10] == 'T') time[10] = ' ';
  return time;
}

std::string labels_text(const dom::object& job) {
  dom::object labels;
  std::string text;
  if (job["labels"].get(labels) != simdjson::SUCCESS) return text;
  for (const dom::key_value_pair label : labels) {
    std::string_view value;
    if (label.value.get(value) != simdjson::SUCCESS) continue;
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : ", ", printable(label.key), printable(value));
  }
  return text;
}

template <class Say>
std::string first_of(const dom::object& event, const char* key, Say&& say) {
  dom::array list;
  if (event[key].get(list) != simdjson::SUCCESS) return {};
  for (const dom::element element : list) {
    dom::object first;
    if (element.get(first) == simdjson::SUCCESS) return say(first);
  }
  return {};
}

std::string mark_of(const dom::object& event) {
  return first_of(event, "marks",
                  [](const dom::object& mark) { return "mark " + text_in(mark, "text"); });
}

std::string row_of(const dom::object& event) {
  const int64_t count = number_in(event, "row_count");
  if (count == 0) return {};
  const std::string seconds =
      first_of(event, "rows", [](const dom::object& row) { return text_in(row, "Exectime"); });
  return fmt::format("{} row{}{}", count, count == 1 ? "" : "s",
                     seconds.empty() ? "" : fmt::format(", {} s", seconds));
}

std::string gauge_of(const dom::object& event) {
  return first_of(event, "gauges", [](const dom::object& gauge) {
    double value = 0;
    if (gauge["value"].get(value) != simdjson::SUCCESS) value = 0;
    const std::string unit = text_in(gauge, "unit");
    return fmt::format("{} = {}{}{}", text_in(gauge, "name"), value, unit.empty() ? "" : " ", unit);
  });
}

// Of a line that may be as long as it is, nothing is cut.
size_t cut_to(size_t columns, size_t line_columns) {
  return line_columns < kAnyWidth ? columns : kAnyWidth;
}

std::string sum_of(const dom::object& event, size_t columns) {
  return first_of(event, "sums", [columns](const dom::object& sum) {
    const int64_t added = number_in(sum, "added");
    return fmt::format("{} {}{} in {}", text_in(sum, "event"), added < 0 ? "" : "+", added,
                       fit(text_in(sum, "node"), cut_to(kNodeColumns, columns)));
  });
}

std::string run_of(const dom::object& event) {
  dom::object runs;
  if (event["runs"].get(runs) != simdjson::SUCCESS) return {};
  for (const dom::key_value_pair run : runs) return printable(run.key);
  return {};
}

std::string counted(uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Result<std::string> job_text(const std::string& job, const std::string& runs, size_t columns) {
  TRY(load_simdjson());
  dom::parser parser, runs_parser;
  dom::object object;
  dom::array list;
  if (parser.parse(job).get(object) != simdjson::SUCCESS ||
      runs_parser.parse(runs)["runs"].get(list) != simdjson::SUCCESS)
    return Error{Code::kCorrupt, "the hub's answer makes no sense"};
  const std::string description = text_in(object, "description"), labels = labels_text(object);
  std::string text = fit(fmt::format("job {}{}{}", number_in(object, "id"),
                                     description.empty() ? "" : ": ", description),
                         columns) +
                     "\n";
  text += fmt::format("created {} UTC, {}, {}\n", moment(text_in(object, "created")),
                      counted(static_cast<uint64_t>(number_in(object, "rows")), "benchmark row"),
                      counted(list.size(), "run"));
  if (!labels.empty()) text += fit("labels " + labels, columns) + "\n";
  if (list.size() > 0)
    text += fmt::format("\n{:<28}  {:<16}  {:>7}  {}\n", "run", "host", "batches", "last, UTC");
  for (const dom::element element : list) {
    dom::object run;
    if (element.get(run) != simdjson::SUCCESS) continue;
    text += fmt::format("{}  {}  {:>7}  {}\n",
                        pad(fit(text_in(run, "run"), cut_to(kRunColumns, columns)), kRunColumns),
                        pad(fit(text_in(run, "host"), cut_to(kHostColumns, columns)), kHostColumns),
                        number_in(run, "acknowledged"), moment(text_in(run, "last")));
  }
  return text;
}

std::string event_line(const std::string& json, size_t columns) {
  dom::parser parser;
  dom::object event;
  if (!load_simdjson().ok() || parser.parse(json).get(event) != simdjson::SUCCESS)
    return fit(printable(json), columns);
  if (const int64_t lost = number_in(event, "events"); lost > 0 && event["job"].error())
    return fmt::format("{} events were lost: this reader is too slow", lost);
  const std::string time = moment(text_in(event, "time"));
  std::string line = time.size() > 11 ? time.substr(11) : time;
  for (const std::string& part :
       {mark_of(event), row_of(event), gauge_of(event), sum_of(event, columns)})
    if (!part.empty()) line += "  " + part;
  if (line.size() <= 8) line += "  a batch of " + run_of(event) + " without figures";
  const int64_t sums = number_in(event, "nodes");
  if (sums > 1) line += fmt::format("  {} sums", sums);
  return fit(line, columns);
}

}  // namespace fathom
