// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace fathom {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 12> kDurationUnits = {{{"", 1e9},
                                                  {"s", 1e9},
                                                  {"sec", 1e9},
                                                  {"ms", 1e6},
                                                  {"us", 1e3},
                                                  {"\xC2\xB5s", 1e3},  // micro sign
                                                  {"\xCE\xBCs", 1e3},  // Greek mu
                                                  {"ns", 1},
                                                  {"m", 60e9},
                                                  {"min", 60e9},
                                                  {"h", 3600e9},
                                                  {"d", 86400e9}}};

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& byte : out) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  }
  return out;
}

}  // namespace

// A number at the start and one of the units after it, as a whole number of nanoseconds.
Result<int64_t> parse_duration(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return Error{Code::kInvalid, fmt::format("'{}' is {} time", printable(text), why),
                 "write it like 250ms, 1.5s, 2m or 10 (seconds)"};
  };
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (problem != std::errc() || !std::isfinite(number)) return wrong("not a");
  if (number < 0) return wrong("a negative");
  std::string_view rest(at, static_cast<size_t>(end - at));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const std::string unit_name = lower_case(rest);
  for (const Unit& unit : kDurationUnits) {
    if (unit.name != unit_name) continue;
    const double scaled = std::round(number * unit.factor);
    if (scaled >= 9.2e18) return wrong("too large a");
    return static_cast<int64_t>(scaled);
  }
  return wrong("not a");
}

Result<int64_t> parse_number(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc() && at == end) return number;
  return Error{Code::kInvalid, fmt::format("'{}' is not a whole number", printable(text))};
}

Result<double> parse_real(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc() && at == end && std::isfinite(number)) return number;
  return Error{Code::kInvalid, fmt::format("'{}' is not a number", printable(text))};
}

std::string format_bytes_of(double bytes) {
  constexpr std::array<std::string_view, 7> kNames = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (!std::isfinite(bytes)) return "?";
  double size = std::fabs(bytes);
  size_t unit = 0;
  while (size >= 999.5 && unit + 1 < kNames.size()) {
    size /= 1000;
    ++unit;
  }
  const int digits = unit > 0 && size < 9.95 ? 1 : 0;
  const std::string_view sign = bytes < 0 && std::fabs(bytes) >= 0.5 ? "-" : "";
  return fmt::format("{}{:.{}f} {}", sign, size, digits, kNames[unit]);
}

std::string format_count_of(bool negative, uint64_t magnitude) {
  std::string digits = std::to_string(magnitude);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return negative ? "-" + digits : digits;
}

std::string format_duration_ns(int64_t duration_ns) {
  if (duration_ns < 0) {
    if (duration_ns == INT64_MIN) ++duration_ns;
    return "-" + format_duration_ns(-duration_ns);
  }
  if (duration_ns < 1000) return fmt::format("{} ns", duration_ns);
  const auto length = static_cast<double>(duration_ns);
  const auto scaled = [](double value, std::string_view unit) {
    return fmt::format("{:.{}f} {}", value, value < 99.95 ? 1 : 0, unit);
  };
  if (length < 999.5e3) return scaled(length / 1e3, "µs");
  if (length < 999.5e6) return scaled(length / 1e6, "ms");
  if (length < 59.95e9) return scaled(length / 1e9, "s");
  const int64_t seconds =
      duration_ns / 1'000'000'000 + (duration_ns % 1'000'000'000 >= 500'000'000 ? 1 : 0);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  const int64_t minutes = (seconds + 30) / 60;
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

}  // namespace fathom
