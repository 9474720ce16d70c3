// SPDX-License-Identifier: Apache-2.0
#include "cli/rows_csv.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <stdlib.h>

#include <map>
#include <string>
#include <vector>

#include "base/simdjson.h"
#include "base/text.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kFlushBytes = size_t{1} << 16;  // bytes worth a write

struct Line {
  char* text = nullptr;
  size_t room = 0;
  Line() = default;
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() { free(text); }
};

std::string_view text_at(const dom::object& object, const char* key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// What heads a figure's column: its name and, where it is known, its unit.
std::string heading(std::string_view name, const dom::object& origin) {
  dom::object units;
  std::string_view unit;
  if (origin["units"].get(units) == simdjson::SUCCESS)
    for (const dom::key_value_pair one : units)
      if (one.key == name && one.value.get(unit) != simdjson::SUCCESS) unit = {};
  return unit.empty() ? std::string(name) : fmt::format("{} [{}]", name, unit);
}

// A figure: whole, or a time as text.
std::string value_text(const dom::element& value) {
  std::string_view text;
  int64_t number = 0;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  return value.get(number) == simdjson::SUCCESS ? std::to_string(number) : std::string();
}

class RowLines {
 public:
  explicit RowLines(FILE* lines) : lines_(lines) {}

  // Calls `take` with each row and where it comes from.
  template <class Take>
  Status each(Take&& take) {
    rewind(lines_);
    Line line;
    for (size_t number = 1;; ++number) {
      const ssize_t size = getline(&line.text, &line.room, lines_);
      if (size < 0) break;
      dom::object row, origin;
      if (parser_.parse(line.text, static_cast<size_t>(size)).get(row) != simdjson::SUCCESS ||
          row["fathom"].get(origin) != simdjson::SUCCESS)
        return Error{Code::kCorrupt, fmt::format("row {} of the hub's makes no sense", number)};
      TRY(take(row, origin));
    }
    if (ferror(lines_) != 0) return errno_error("read rows");
    return {};
  }

 private:
  FILE* lines_;
  dom::parser parser_;
};

class Columns {
 public:
  void add(const dom::object& row, const dom::object& origin) {
    for (const dom::key_value_pair field : row) {
      if (field.key == "fathom") continue;
      const std::string name = heading(field.key, origin);
      if (places_.emplace(name, names_.size()).second) names_.push_back(name);
    }
  }
  [[nodiscard]] std::string header() const {
    std::string text = "host,run,time";
    for (const std::string& name : names_) text += "," + csv_quote(name);
    return text + "\n";
  }
  [[nodiscard]] std::string line(const dom::object& row, const dom::object& origin) const {
    std::vector<std::string> values(names_.size());
    for (const dom::key_value_pair field : row) {
      const auto place = places_.find(heading(field.key, origin));
      if (field.key == "fathom" || place == places_.end()) continue;
      values[place->second] = csv_quote(value_text(field.value));
    }
    std::string text =
        fmt::format("{},{},{}", csv_quote(text_at(origin, "host")),
                    csv_quote(text_at(origin, "run")), csv_quote(text_at(origin, "time")));
    for (const std::string& value : values) text += "," + value;
    return text + "\n";
  }

 private:
  std::map<std::string, size_t, std::less<>> places_;
  std::vector<std::string> names_;  // in the order in which they came
};

}  // namespace

Status write_rows_csv(FILE* lines, const std::function<Status(std::string_view)>& write) {
  TRY(load_simdjson());
  RowLines rows(lines);
  Columns columns;
  TRY(rows.each([&](const dom::object& row, const dom::object& origin) -> Status {
    columns.add(row, origin);
    return {};
  }));
  std::string text = columns.header();
  const auto give = [&](const dom::object& row, const dom::object& origin) -> Status {
    text += columns.line(row, origin);
    if (text.size() < kFlushBytes) return {};
    TRY(write(text));
    text.clear();
    return {};
  };
  TRY(rows.each(give));
  return write(text);
}

}  // namespace fathom
