// SPDX-License-Identifier: Apache-2.0
#include "probe/metric_reader.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>

#include "base/scan.h"
#include "base/simdjson.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

template <class T>
std::optional<T> get(const simdjson::simdjson_result<dom::element>& element) {
  T value{};
  if (element.get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

// A number, or a truth as 0 or 1.
std::optional<double> number(const simdjson::simdjson_result<dom::element>& element) {
  if (const auto truth = get<bool>(element)) return *truth ? 1 : 0;
  return get<double>(element);
}

MetricTime time_in(const dom::object& object) {
  return {get<int64_t>(object["time_ns"]), get<double>(object["timestamp"])};
}

std::string_view unit_in(const dom::object& object) {
  if (const auto unit = get<std::string_view>(object["unit"])) return *unit;
  const auto type = get<std::string_view>(object["type"]);
  if (!type) return {};
  if (*type == "TIMER") return "s";
  return *type == "RATE" ? "1/s" : "";
}

bool tell(const Metric& metric, MetricListener& listener) {
  if (metric.name.empty() || metric.name.size() > MetricReader::kMostNameBytes ||
      metric.unit.size() > MetricReader::kMostUnitBytes || !std::isfinite(metric.value))
    return false;
  listener.metric(metric);
  return true;
}

bool read_one(std::string_view name, const dom::object& object, const MetricTime& outer,
              MetricListener& listener) {
  const auto value = number(object["value"]);
  if (!value) return false;
  MetricTime time = time_in(object);
  if (!time.monotonic_ns && !time.real_s) time = outer;
  return tell({name, unit_in(object), *value, time}, listener);
}

bool read_member(const dom::key_value_pair& member, const MetricTime& time,
                 MetricListener& listener) {
  dom::object inner;
  if (member.value.get(inner) == simdjson::SUCCESS)
    return read_one(member.key, inner, time, listener);
  const auto value = number(dom::element(member.value));
  if (!value) return false;
  if (member.key != "fathom_dropped") return tell({member.key, {}, *value, time}, listener);
  if (!(*value >= 0 && *value < 1e15)) return false;
  listener.lost(static_cast<int64_t>(*value));
  return true;
}

bool read_members(const dom::object& object, MetricListener& listener) {
  const MetricTime time = time_in(object);
  bool all = true;
  size_t told = 0;
  for (const dom::key_value_pair member : object) {
    const bool is_time = member.key == "timestamp" || member.key == "time_ns";
    if (is_time && member.value.is_number()) continue;
    const bool good = read_member(member, time, listener);
    all = all && good;
    told += good ? 1 : 0;
  }
  return all && told > 0;
}

}  // namespace

struct MetricReader::Parser {
  dom::parser parser;
};

MetricReader::MetricReader() = default;
MetricReader::~MetricReader() = default;

bool MetricReader::read_json(std::string_view line, MetricListener& listener) {
  if (!parser_ && load_simdjson().ok()) parser_ = std::make_unique<Parser>();
  dom::object object;
  if (!parser_ || parser_->parser.parse(line.data(), line.size()).get(object) != simdjson::SUCCESS)
    return false;
  if (const auto text = get<std::string_view>(object["mark"])) {
    if (text->empty() || text->size() > kMostMarkBytes) return false;
    listener.mark(*text, time_in(object));
    return true;
  }
  if (const auto name = get<std::string_view>(object["name"]))
    return read_one(*name, object, {}, listener);
  return read_members(object, listener);
}

bool MetricReader::read_words(std::string_view line, MetricListener& listener) {
  const std::string_view name = take_word(line);
  const std::string_view value = take_word(line);
  const std::string_view unit = take_word(line);
  skip_blanks(line);
  double number = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (!line.empty() || failed != std::errc() || end != value.data() + value.size()) return false;
  return tell({name, unit, number, {}}, listener);
}

}  // namespace fathom
