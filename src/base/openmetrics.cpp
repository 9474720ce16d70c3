// SPDX-License-Identifier: Apache-2.0
#include "base/openmetrics.h"

#include <fmt/format.h>

#include <cmath>

#include "base/http_host.h"
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

// In the format of Prometheus quotes are not escaped in help texts.
std::string plain_help(std::string_view text) {
  std::string help = escaped(text);
  for (size_t at = 0; (at = help.find("\\\"", at)) != std::string::npos; ++at) help.erase(at, 1);
  return help;
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
  family.lines.push_back({std::move(labels), series.value / divisor, series.time_s});
}

// In the format of Prometheus a family has the name of its samples, times are in ms, and an info is
// a gauge.
std::string OpenMetricsText::family_text(const Family& family, Form form) {
  const bool open = form == Form::kOpenMetrics;
  const std::string sample = family.name + sample_suffix(family.type);
  const std::string& name = open ? family.name : sample;
  std::string text =
      fmt::format("# TYPE {} {}\n", name,
                  !open && family.type == Type::kInfo ? "gauge" : type_name(family.type));
  if (open && !family.unit.empty()) text += fmt::format("# UNIT {} {}\n", name, family.unit);
  if (!family.help.empty())
    text +=
        fmt::format("# HELP {} {}\n", name, open ? escaped(family.help) : plain_help(family.help));
  for (const Line& line : family.lines) {
    text += fmt::format("{}{} {}", sample, line.labels, number_text(line.value));
    if (line.time_s && open) text += fmt::format(" {:.6f}", *line.time_s);
    if (line.time_s && !open) text += fmt::format(" {:.0f}", *line.time_s * 1e3);
    text += '\n';
  }
  return text;
}

std::string OpenMetricsText::text(Form form) const {
  std::string text;
  for (const auto& [key, family] : families_) text += family_text(family, form);
  return form == Form::kOpenMetrics ? text + "# EOF\n" : text;
}

const char* OpenMetricsText::content_type(Form form) {
  return form == Form::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                    : "text/plain; version=0.0.4; charset=utf-8";
}

OpenMetricsText::Form openmetrics_form(std::string_view accept) {
  return prefers_openmetrics(accept) ? OpenMetricsText::Form::kOpenMetrics
                                     : OpenMetricsText::Form::kPrometheus;
}

}  // namespace fathom
