// SPDX-License-Identifier: Apache-2.0
#include "import/driver_log_importer.h"

#include <charconv>
#include <optional>

#include "base/clock.h"
#include "base/gzip.h"
#include "base/saturate.h"
#include "base/scan.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr int64_t kNsPerUs = 1'000;

struct Line {
  std::string_view name;
  Maybe count, start, burst, bytes, kind;
};

std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return number;
}

// Where a field's number goes; nullptr: no field is named so.
Maybe* field_of(Line& line, std::string_view key) {
  if (key == "count") return &line.count;
  if (key == "start") return &line.start;
  if (key == "burst") return &line.burst;
  if (key == "bytes") return &line.bytes;
  return key == "kind" ? &line.kind : nullptr;
}

// All fields are known, and none but the kind is negative.
bool is_sound(const Line& line) {
  const auto is_count = [](const Maybe& value) { return !value || *value >= 0; };
  if (line.name.empty() || !is_count(line.count) || !is_count(line.burst)) return false;
  if (!is_count(line.start) || !is_count(line.bytes)) return false;
  const bool is_call = line.start && line.burst && !line.count;
  const bool is_sum = line.count && !line.start && !line.bytes;
  return is_call || is_sum;
}

std::optional<Line> parse(std::string_view text) {
  Line line;
  bool first = true;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view part = trimmed(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view key = trimmed(part.substr(0, colon));
    const std::string_view value = trimmed(part.substr(colon + 1));
    if (first != (key == "name")) return std::nullopt;
    if (first) {
      line.name = value;
      first = false;
      continue;
    }
    Maybe* field = field_of(line, key);
    if (field == nullptr || field->has_value()) return std::nullopt;
    *field = number_in(value);
    if (!field->has_value()) return std::nullopt;
  }
  return is_sound(line) ? std::optional(line) : std::nullopt;
}

const char* direction_of(const Line& line) {
  if (line.name.starts_with("cuMemcpyH2D")) return "host to device";
  if (line.name.starts_with("cuMemcpyD2H")) return "device to host";
  if (!line.kind) return nullptr;
  switch (*line.kind) {
    case 0:
      return "host to host";
    case 1:
      return "host to device";
    case 2:
      return "device to host";
    case 3:
      return "device to device";
    default:
      return "copy";
  }
}

int64_t us_to_ns(int64_t us) {
  int64_t ns = 0;
  return __builtin_mul_overflow(us, kNsPerUs, &ns) ? INT64_MAX : ns;
}

void add_call(const Line& line, int64_t offset_ns, RecordStream& out, ImportCounts& counts) {
  Span span;
  span.start_ns = difference_saturating(*line.start, offset_ns);
  span.duration_ns = us_to_ns(*line.burst);
  span.layer = out.string("cuda");
  span.name = out.string(printable(line.name));
  span.bytes = line.bytes;
  if (const char* direction = direction_of(line)) span.file = out.string(direction);
  out.add(span);
  int64_t end_ns = span.start_ns;
  add_saturating(end_ns, span.duration_ns);
  counts.add_time(span.start_ns, end_ns);
}

void add_sum(const Line& line, int64_t now_ns, RecordStream& out) {
  if (!line.burst) {
    Gauge gauge;
    gauge.time_ns = now_ns;
    gauge.scope = out.string("gpu");
    gauge.name = out.string(printable(line.name));
    gauge.unit = out.string("bytes");
    gauge.value = static_cast<double>(*line.count);
    out.add(gauge);
    return;
  }
  Counter counter;
  counter.slice_ns = now_ns;
  counter.layer = out.string("cuda");
  counter.name = out.string(printable(line.name));
  counter.count = *line.count;
  counter.time_ns = us_to_ns(*line.burst);
  out.add(counter);
}

}  // namespace

bool looks_like_driver_log(std::string_view start) {
  return parse(start.substr(0, start.find('\n'))).has_value();
}

Result<ImportCounts> import_driver_log(const std::string& path, RecordStream& out) {
  TRY_ASSIGN(UnpackedLines file, UnpackedLines::open(path));
  const int64_t now_ns = monotonic_ns();
  const int64_t offset_ns = real_offset_ns();
  ImportCounts counts{.has_real_time = true};
  for (std::string text; file.next(text);) {
    if (trimmed(text).empty()) continue;
    const auto line = parse(text);
    if (!line) {
      if (++counts.skipped == 1) counts.first_skipped = file.lines();
      continue;
    }
    ++counts.lines;
    if (line->start) {
      add_call(*line, offset_ns, out, counts);
    } else {
      add_sum(*line, now_ns, out);
    }
  }
  TRY(file.check());
  if (counts.lines == 0) return Error{Code::kCorrupt, path + " holds no line of such a log"};
  return counts;
}

}  // namespace fathom
