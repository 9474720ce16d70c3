// SPDX-License-Identifier: Apache-2.0
// Text in the OpenMetrics format (version 1.0.0), which Prometheus and its like read. Whatever
// names, units and labels it is given, the text is valid: names are made so, families keep one type
// and unit, and no two lines are of the same series. Belongs to one thread.
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
  static constexpr const char* kContentType =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";

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

  [[nodiscard]] std::string text() const;

 private:
  struct Family {
    Type type = Type::kGauge;
    std::string name, unit, help, lines;
    std::set<std::string> labels;  // of the lines so far
  };
  Family& family_of(const Series& series);

  std::map<std::string, Family> families_;    // by name asked for, unit and type
  std::set<std::string, std::less<>> taken_;  // names of families and of their samples
};

// A label's value with quotes.
std::string openmetrics_quote(std::string_view text);
// Only letters, digits and underscores; not empty, and no digit first.
std::string openmetrics_name(std::string_view text);
// What a unit is called there, such as seconds for ns, and what to divide by; empty for counts.
std::pair<std::string, double> openmetrics_unit(std::string_view unit);

}  // namespace fathom
