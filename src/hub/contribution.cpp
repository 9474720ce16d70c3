// SPDX-License-Identifier: Apache-2.0
#include "hub/contribution.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/text.h"

namespace fathom {

size_t Contribution::bytes() const {
  size_t total = sizeof(Contribution);
  for (const SumDelta& sum : sums) total += sizeof(SumDelta) + sum.key.size();
  for (const std::string& row : rows) total += sizeof(std::string) + row.size();
  return total + gauges.size() * sizeof(GaugeValue) + marks.size() * 256;
}

namespace {

Status check_text(const char* what, std::string_view text, size_t most) {
  if (text.size() > most)
    return Error{Code::kInvalid,
                 fmt::format("{} of {} bytes: {} is the most", what, text.size(), most)};
  if (text.find('\0') != std::string_view::npos)
    return Error{Code::kInvalid, fmt::format("{} holds a NUL byte", what)};
  return {};
}

// What an event counts in whoever sends it; empty: that is not known.
std::string_view known_unit(std::string_view event) {
  const std::string_view name = event.substr(0, event.find(':'));  // without :u and the like
  return name == "cpu-clock" || name == "task-clock" ? "ns" : "";
}

}  // namespace

std::string_view without_offset(std::string_view symbol) {
  const size_t plus = symbol.rfind("+0x");
  if (plus == std::string_view::npos || plus == 0 || plus + 3 == symbol.size()) return symbol;
  const std::string_view digits = symbol.substr(plus + 3);
  return digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos
             ? symbol.substr(0, plus)
             : symbol;
}

std::string_view program_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

Status check_sum_name(std::string_view symbol, std::string_view program, std::string_view event) {
  if (symbol.empty()) return Error{Code::kInvalid, "a node needs a name"};
  TRY(check_text("a symbol", symbol, kMostSymbolBytes));
  TRY(check_text("a program", program, kMostNameBytes));
  TRY(check_text("an event", event, kMostNameBytes));
  if (event.empty() || event == "execname")
    return Error{Code::kInvalid, fmt::format("'{}' is no name of an event", event)};
  return {};
}

Status Contribution::add_sum(std::string_view symbol, std::string_view program,
                             std::string_view event, int64_t delta) {
  TRY(check_sum_name(symbol, program, event));
  // The least of all numbers has no opposite, which taking back would need.
  if (delta == INT64_MIN)
    return Error{Code::kInvalid, "a count of -9223372036854775808 cannot be taken"};
  key_bytes_ += symbol.size() + program.size() + event.size() + sizeof(SumDelta);
  if (key_bytes_ > kMostKeyBytes)
    return Error{Code::kInvalid, "the names of one batch are too long together"};
  sums.push_back({sum_key(symbol, program, event), delta});
  return {};
}

Status RowBuilder::add_time(double seconds) {
  if (timed_) return Error{Code::kInvalid, "a row has one time: Exectime, or time"};
  if (!std::isfinite(seconds) || seconds < 0)
    return Error{Code::kInvalid, "the time of a row is seconds, 0 or more"};
  timed_ = true;
  fields_ =
      fmt::format("\"Exectime\":\"{:.6f}\"{}{}", seconds, fields_.empty() ? "" : ",", fields_);
  return {};
}

Status RowBuilder::add_count(std::string_view event, int64_t count) {
  TRY(check_sum_name("row", "", event));
  if (event == "Exectime" || event == "time" || event == "fathom")
    return Error{Code::kInvalid, fmt::format("'{}' is no name of a count", event)};
  if (names_.size() >= kMaxRowNames)
    return Error{Code::kInvalid, fmt::format("a row has at most {} counts", kMaxRowNames)};
  if (!known_.emplace(event).second)
    return Error{Code::kInvalid, fmt::format("'{}' stands twice", printable(event))};
  names_.emplace_back(event);
  fields_ += fmt::format("{}{}:{}", fields_.empty() ? "" : ",", json_quote(event), count);
  return {};
}

void RowBuilder::add_unit(std::string_view event, std::string_view unit) {
  if (units_.size() >= kMaxRowNames) return;
  if (unit.empty() || unit.size() > kMostNameBytes || unit.find('\0') != std::string_view::npos)
    return;
  units_.emplace(event, unit);
}

std::string RowBuilder::json(const RowOrigin& origin) const {
  std::string units = timed_ ? "\"Exectime\":\"s\"" : "";
  for (const std::string& name : names_) {
    const auto said = units_.find(name);
    const std::string_view unit = said != units_.end() ? said->second : known_unit(name);
    if (unit.empty()) continue;
    units += fmt::format("{}{}:{}", units.empty() ? "" : ",", json_quote(name), json_quote(unit));
  }
  return fmt::format(
      "{{{},\"fathom\":{{\"host\":{},\"run\":{},\"time\":\"{}\",\"units\":{{{}}}}}}}", fields_,
      json_quote(origin.host), json_quote(origin.run), utc_text(origin.time_ns), units);
}

std::string utc_text(int64_t time_ns) {
  const time_t seconds = time_ns / kNsPerSecond;
  tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     time_ns % kNsPerSecond / kNsPerMs);
}

}  // namespace fathom
