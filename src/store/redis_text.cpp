// SPDX-License-Identifier: Apache-2.0
#include "store/redis_text.h"

#include <fmt/format.h>

#include "base/text.h"

namespace fathom {
namespace {

std::string_view take(std::string_view& text) {
  const size_t end = std::min(text.find('\0'), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return field;
}

int64_t take_number(std::string_view& text) { return parse_number(take(text)).value_or(0); }

}  // namespace

std::string job_text(const Job& job) {
  return fmt::format("{}{}{}{}{}", job.created_ns, '\0', job.labels, '\0', job.description);
}

Job job_from(std::string_view text) {
  Job job;
  job.created_ns = take_number(text);
  job.labels = take(text);
  job.description = text;
  return job;
}

std::string gauge_text(const GaugeValue& gauge) {
  return fmt::format("{}{}{}{}{}{}{}{}{}", gauge.time_ns, '\0', gauge.value, '\0', gauge.unit, '\0',
                     gauge.scope, '\0', gauge.name);
}

GaugeValue gauge_from(std::string_view text) {
  GaugeValue gauge;
  gauge.time_ns = take_number(text);
  gauge.value = parse_real(take(text)).value_or(0);
  gauge.unit = take(text);
  gauge.scope = take(text);
  gauge.name = take(text);
  return gauge;
}

std::string mark_text(const MarkText& mark) {
  return fmt::format("{}{}{}", mark.time_ns, '\0', mark.text);
}

MarkText mark_from(std::string_view text) {
  MarkText mark;
  mark.time_ns = take_number(text);
  mark.text = text;
  return mark;
}

}  // namespace fathom
