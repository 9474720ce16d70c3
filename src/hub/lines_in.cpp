// SPDX-License-Identifier: Apache-2.0
#include "hub/lines_in.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>
#include <cmath>

#include "base/simdjson.h"
#include "base/text.h"
#include "hub/lines_dom.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kMostBadLines = 100;

// What stands beside the events of a node.
bool is_no_event(std::string_view key) {
  for (const char* other : {"node", "execname", "units", "command", "jobid"})
    if (key == other) return true;
  return false;
}

Result<int64_t> whole(std::string_view key, const dom::element& value) {
  int64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return number;
  const bool large = value.is_uint64();
  return Error{Code::kInvalid, fmt::format("\"{}\" must be a whole number{}", printable(key),
                                           large ? " of 64 bits with a sign" : "")};
}

Result<double> seconds_of(const dom::element& value) {
  double seconds = 0;
  if (value.get(seconds) == simdjson::SUCCESS) return seconds;
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return parse_real(text);
  return Error{Code::kInvalid, "the time of a row is seconds, as a number or a text"};
}

Status take_node(const dom::object& object, Contribution& out) {
  std::string_view symbol, program;
  if (object["node"].get(symbol) != simdjson::SUCCESS)
    return Error{Code::kInvalid, "\"node\" must be a text"};
  if (!object["execname"].error() && object["execname"].get(program) != simdjson::SUCCESS)
    return Error{Code::kInvalid, "\"execname\" must be a text"};
  symbol = without_offset(symbol);
  const size_t before = out.sums.size();
  Status taken;
  for (const dom::key_value_pair field : object) {
    if (is_no_event(field.key) || !taken.ok()) continue;
    const auto delta = whole(field.key, field.value);
    taken =
        delta.ok() ? out.add_sum(symbol, program, field.key, delta.value()) : Status(delta.error());
  }
  if (!taken.ok()) {  // of a bad line nothing is taken
    out.sums.resize(before);
    return taken;
  }
  if (out.sums.size() == before) return Error{Code::kInvalid, "a node without events"};
  dom::object units;
  if (object["units"].get(units) == simdjson::SUCCESS) {
    for (const dom::key_value_pair unit : units) {
      std::string_view text;
      if (unit.value.get(text) == simdjson::SUCCESS && text.size() <= kMostNameBytes)
        out.units.emplace_back(unit.key, text);
    }
  }
  out.updates += static_cast<int64_t>(out.sums.size() - before);
  return {};
}

Status take_gauge(const dom::object& line, const RowOrigin& origin, Contribution& out) {
  dom::object object = line;
  const bool nested = line["gauge"].get(object) == simdjson::SUCCESS;
  std::string_view name, unit;
  double value = 0;
  if (object[nested ? "name" : "gauge"].get(name) != simdjson::SUCCESS || name.empty() ||
      name.size() > kMostNameBytes || name.find('\0') != std::string_view::npos)
    return Error{Code::kInvalid, "a gauge needs a name"};
  if (object["value"].get(value) != simdjson::SUCCESS || !std::isfinite(value))
    return Error{Code::kInvalid, "a gauge needs a value that is a number"};
  if (object["unit"].get(unit) != simdjson::SUCCESS || unit.size() > kMostNameBytes ||
      unit.find('\0') != std::string_view::npos)
    unit = {};
  out.gauges.push_back({std::string(name), std::string(unit), "app", value, origin.time_ns});
  return {};
}

Status take_mark(const dom::element& element, const RowOrigin& origin, Contribution& out) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS || text.empty() || text.size() > kMostNameBytes ||
      text.find('\0') != std::string_view::npos)
    return Error{Code::kInvalid,
                 fmt::format("a mark is a text of at most {} bytes", kMostNameBytes)};
  out.marks.push_back({origin.time_ns, std::string(text)});
  return {};
}

// The first whole number outside of strings that 64 bits cannot hold; empty: there is none.
std::string_view too_large(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
      continue;
    }
    if (kDigits.find(text[at]) == std::string_view::npos) continue;
    const size_t end = std::min(text.find_first_not_of(kDigits, at), text.size());
    const bool negative = at > 0 && text[at - 1] == '-';
    const bool is_whole =
        end == text.size() || std::string_view(".eE").find(text[end]) == std::string_view::npos;
    const std::string_view number = text.substr(at, end - at);
    uint64_t value = 0;
    const bool beyond =
        std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc{} ||
        (negative && value > uint64_t{1} << 63);
    if (is_whole && beyond)
      return text.substr(negative ? at - 1 : at, negative ? number.size() + 1 : number.size());
    // What follows a point or an exponent is no number of its own.
    at = std::min(text.find_first_not_of("0123456789.eE+-", end), text.size()) - 1;
  }
  return {};
}

}  // namespace

Error why_unread(std::string_view text) {
  const std::string_view large = too_large(text);
  if (large.empty()) return {Code::kInvalid, "this is no JSON"};
  return {Code::kInvalid,
          fmt::format("{}{} is too large: counts are whole numbers of 64 bits with a sign",
                      large.substr(0, 40), large.size() > 40 ? "…" : "")};
}

Status take_row(const dom::object& object, const RowOrigin& origin, Contribution& out) {
  RowBuilder row;
  for (const dom::key_value_pair field : object) {
    dom::object units;
    if (field.key == "command" || field.key == "jobid") continue;
    if (field.key == "Exectime" || field.key == "time") {
      TRY_ASSIGN(const double seconds, seconds_of(field.value));
      TRY(row.add_time(seconds));
    } else if (field.key == "units" && field.value.get(units) == simdjson::SUCCESS) {
      for (const dom::key_value_pair unit : units) {
        std::string_view text;
        if (unit.value.get(text) == simdjson::SUCCESS) row.add_unit(unit.key, text);
      }
    } else {
      TRY_ASSIGN(const int64_t count, whole(field.key, field.value));
      TRY(row.add_count(field.key, count));
    }
  }
  if (row.empty()) return Error{Code::kInvalid, "a benchmark row without values"};
  out.rows.push_back(row.json(origin));
  ++out.updates;
  return {};
}

Status take_object(const dom::object& object, const RowOrigin& origin, Contribution& out) {
  if (!object["node"].error()) return take_node(object, out);
  if (!object["benchmark"].error()) {
    dom::object row;
    if (object["benchmark"].get(row) != simdjson::SUCCESS)
      return Error{Code::kInvalid, "\"benchmark\" must be an object"};
    return take_row(row, origin, out);
  }
  if (!object["gauge"].error()) return take_gauge(object, origin, out);
  if (!object["mark"].error()) return take_mark(object["mark"].value_unsafe(), origin, out);
  return Error{Code::kInvalid,
               "neither \"node\" nor \"benchmark\", \"gauge\" or \"mark\" is in it"};
}

struct LineParser::Body {
  dom::parser parser;
};

LineParser::LineParser(std::unique_ptr<Body> body) : body_(std::move(body)) {}
LineParser::LineParser(LineParser&&) noexcept = default;
LineParser& LineParser::operator=(LineParser&&) noexcept = default;
LineParser::~LineParser() = default;

Result<LineParser> LineParser::make() {
  TRY(load_simdjson());
  return LineParser(std::make_unique<Body>());
}

Status LineParser::take(std::string_view line, const RowOrigin& origin, Contribution& out) {
  dom::element element;
  if (body_->parser.parse(line.data(), line.size()).get(element) != simdjson::SUCCESS)
    return why_unread(line);
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS)
    return Error{Code::kInvalid, "a line is an object in braces"};
  return take_object(object, origin, out);
}

Result<ParsedLines> contribution_of_lines(std::string_view body, const RowOrigin& origin) {
  TRY_ASSIGN(LineParser parser, LineParser::make());
  ParsedLines parsed;
  for (size_t number = 1; !body.empty(); ++number) {
    const size_t end = std::min(body.find('\n'), body.size());
    const std::string_view line = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto taken = parser.take(line, origin, parsed.contribution);
    if (taken.ok()) continue;
    ++parsed.bad_count;
    if (parsed.bad.size() < kMostBadLines) parsed.bad.push_back({number, taken.error().message});
  }
  return parsed;
}

}  // namespace fathom
