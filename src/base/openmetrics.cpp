// SPDX-License-Identifier: Apache-2.0
#include "base/openmetrics.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace fathom {
namespace {

using Type = OpenMetricsText::Type;

const char* type_name(Type type) {
  if (type == Type::kInfo) return "info";
  return type == Type::kCounter ? "counter" : "gauge";
}

const char* sample_suffix(Type type) {
  if (type == Type::kInfo) return "_info";
  return type == Type::kCounter ? "_total" : "";
}

bool is_name_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_';
}

// Quotes, backslashes and line ends escaped; what is not UTF-8 becomes U+FFFD.
std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    if (!point.valid) {
      out += "\xEF\xBF\xBD";
    } else if (text[0] == '\n') {
      out += "\\n";
    } else {
      if (text[0] == '"' || text[0] == '\\') out += '\\';
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

std::string labels_text(const OpenMetricsText::Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    text += (text.empty() ? "{" : ",") + openmetrics_name(name) + "=" + openmetrics_quote(value);
  return text.empty() ? text : text + "}";
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string with_unit(const std::string& name, const std::string& unit) {
  if (unit.empty() || name == unit || name.ends_with("_" + unit)) return name;
  return name + "_" + unit;
}

}  // namespace

std::string openmetrics_quote(std::string_view text) { return "\"" + escaped(text) + "\""; }

std::string openmetrics_name(std::string_view text) {
  std::string name(text);
  for (char& byte : name)
    if (!is_name_byte(byte)) byte = '_';
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "_");
  return name;
}

std::pair<std::string, double> openmetrics_unit(std::string_view unit) {
  if (unit.empty() || unit == "count") return {"", 1};
  if (unit == "ns") return {"seconds", 1e9};
  if (unit == "s") return {"seconds", 1};
  if (unit == "1/s") return {"per_second", 1};
  if (unit == "%") return {"percent", 1};
  if (unit == "Hz") return {"hertz", 1};
  std::string name;
  for (const char byte : unit) {
    if (byte == '/') {
      name += "_per_";
    } else {
      name += is_name_byte(byte) ? byte : '_';
    }
  }
  return {name, 1};
}

OpenMetricsText::Family& OpenMetricsText::family_of(const Series& series) {
  std::string name = openmetrics_name(series.name);
  if (name.ends_with("_total") && name.size() > 6) name.resize(name.size() - 6);
  const std::string unit = series.type == Type::kInfo ? "" : openmetrics_unit(series.unit).first;
  const std::string key = fmt::format("{}|{}|{}", name, unit, type_name(series.type));
  if (const auto found = families_.find(key); found != families_.end()) return found->second;
  std::string free = with_unit(name, unit);
  const char* suffix = sample_suffix(series.type);
  while (taken_.contains(free) || taken_.contains(free + suffix)) {
    name += std::string("_") + type_name(series.type);
    free = with_unit(name, unit);
  }
  taken_.insert(free);
  taken_.insert(free + suffix);
  return families_.emplace(key, Family{series.type, free, unit, series.help, {}, {}}).first->second;
}

void OpenMetricsText::add(const Series& series) {
  if (series.type == Type::kCounter && !(series.value >= 0)) {  // none that may be negative
    Series other = series;
    other.type = Type::kGauge;
    return add(other);
  }
  Family& family = family_of(series);
  std::string labels = labels_text(series.labels);
  if (!family.labels.insert(labels).second) {  // the same name by another spelling of the unit
    Labels more = series.labels;
    more.emplace_back("unit", series.unit);
    labels = labels_text(more);
    if (!family.labels.insert(labels).second) return;
  }
  const double divisor = series.type == Type::kInfo ? 1 : openmetrics_unit(series.unit).second;
  family.lines += fmt::format("{}{}{} {}", family.name, sample_suffix(series.type), labels,
                              number_text(series.value / divisor));
  if (series.time_s) family.lines += fmt::format(" {:.6f}", *series.time_s);
  family.lines += '\n';
}

std::string OpenMetricsText::text() const {
  std::string text;
  for (const auto& [key, family] : families_) {
    text += fmt::format("# TYPE {} {}\n", family.name, type_name(family.type));
    if (!family.unit.empty()) text += fmt::format("# UNIT {} {}\n", family.name, family.unit);
    if (!family.help.empty())
      text += fmt::format("# HELP {} {}\n", family.name, escaped(family.help));
    text += family.lines;
  }
  return text + "# EOF\n";
}

}  // namespace fathom
