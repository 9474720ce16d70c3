// SPDX-License-Identifier: Apache-2.0
// Text in the OpenMetrics format (version 1.0.0) or in the text format of Prometheus (0.0.4).
// Whatever names, units and labels it is given, the text is valid: names are made so, families keep
// one type and unit, and no two lines are of the same series. Belongs to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {

class OpenMetricsText {
 public:
  enum class Form { kOpenMetrics, kPrometheus };
  static const char* content_type(Form form);

  enum class Type { kGauge, kCounter, kInfo };
  using Labels = std::vector<std::pair<std::string, std::string>>;
  struct Series {
    Type type = Type::kGauge;
    std::string name;  // without unit; "_total" at the end is left out
    std::string unit;  // as people write it; ns become seconds
    std::string help = {};
    Labels labels = {};
    double value = 0;
    std::optional<double> time_s = {};  // since 1970
  };
  void add(const Series& series);

  [[nodiscard]] std::string text(Form form = Form::kOpenMetrics) const;

 private:
  struct Line {
    std::string labels;  // with braces; empty: none
    double value = 0;
    std::optional<double> time_s;
  };
  struct Family {
    Type type = Type::kGauge;
    std::string name, unit, help;
    std::vector<Line> lines;
    std::set<std::string> labels;  // of the lines
  };
  static std::string family_text(const Family& family, Form form);
  Family& family_of(const Series& series);

  std::map<std::string, Family> families_;    // by name asked for, unit and type
  std::set<std::string, std::less<>> taken_;  // names of families and of their samples
};

// As an HTTP client asks for by its Accept header field: Prometheus text unless it prefers
// OpenMetrics.
OpenMetricsText::Form openmetrics_form(std::string_view accept);

// A label's value with quotes.
std::string openmetrics_quote(std::string_view text);
// Only letters, digits and underscores; not empty, and no digit first.
std::string openmetrics_name(std::string_view text);
// What a unit is called there, such as seconds for ns, and what to divide by; empty for counts.
std::pair<std::string, double> openmetrics_unit(std::string_view unit);

}  // namespace fathom
