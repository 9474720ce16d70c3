// SPDX-License-Identifier: Apache-2.0
#include "report/pfw_line.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "base/text.h"

namespace fathom {
namespace {

constexpr double kNsPerUs = 1e3;

// As Python writes a float: "24000000.0".
std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string hash_of(std::string_view text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

// What DataCrumbs calls the module that a function is of.
std::string_view module_of(std::string_view layer) { return layer == "c" ? "libc.so.6" : layer; }

std::string number_or_null(const Maybe& value) { return value ? std::to_string(*value) : "null"; }
std::string text_or_null(std::string_view text) { return text.empty() ? "null" : json_quote(text); }

std::string_view host_category(std::string_view name) {
  if (name.starts_with("cpu") || name.starts_with("pressure") || name == "running" ||
      name.starts_with("switches"))
    return "CPU";
  if (name.starts_with("memory") || name.starts_with("swap")) return "Memory";
  return name.starts_with("disk") ? "Disk" : "Network";
}

}  // namespace

std::string PfwLines::head() const {
  if (generation_ < 3) return "[\n";
  if (generation_ == 3)
    return fmt::format(
        "[\n{{\"name\": \"HH\", \"cat\": \"dftracer\", \"ph\": \"M\", \"pid\": 0, "
        "\"tid\": 0, \"args\": {{\"name\": {}, \"value\": \"{}\"}}}}\n",
        json_quote(host_), hash_of(host_));
  return fmt::format(
      "[\n{{\"name\": \"SH\", \"cat\": \"dftracer\", \"ph\": \"M\", \"args\": "
      "{{\"value\": {}, \"hash\": \"{}\"}}}}\n",
      json_quote(host_), hash_of(host_));
}

std::string PfwLines::time(int64_t at_ns) const {
  const double us = static_cast<double>(at_ns) / kNsPerUs;
  return generation_ < 2 ? real_text(us) : std::to_string(at_ns / 1000);
}

// The beginning of a line up to its args.
std::string PfwLines::start(const PfwCall& call, char phase) {
  std::string line = "{";
  if (generation_ == 4) line += fmt::format("\"id\": {}, ", next_id_++);
  if (generation_ < 4 || phase == 'X')
    line += fmt::format("\"pid\": {}, \"tid\": {}, ", call.pid, call.tid);
  std::string name(call.name), category(call.layer);
  if (name.empty()) {
    name = "[unknown]";
    category = "unknown";
  } else if (generation_ == 0) {
    category = fmt::format("[{}]", module_of(call.layer));
    name += " " + category;
  }
  return line + fmt::format("\"name\": {}, \"cat\": {}, \"ph\": \"{}\", \"ts\": {}, ",
                            json_quote(name), json_quote(category), phase, time(call.at_ns));
}

std::string PfwLines::file_line(std::string_view file) {
  if (generation_ < 3 || file.empty() || files_.contains(file)) return "";
  files_.emplace(file);
  const char* const form =
      generation_ == 3
          ? "{{\"name\": \"FH\", \"cat\": \"dftracer\", \"ph\": \"M\", \"pid\": 0, \"tid\": 0, "
            "\"args\": {{\"name\": {}, \"value\": \"{}\"}}}}\n"
          : "{{\"name\": \"SH\", \"cat\": \"dftracer\", \"ph\": \"M\", \"args\": {{\"value\": {}, "
            "\"hash\": \"{}\"}}}}\n";
  return fmt::format(fmt::runtime(form), json_quote(file), hash_of(file));
}

// Bytes, file and host, as the generation has them.
std::string PfwLines::more(const PfwCall& call) const {
  if (generation_ < 3)
    return fmt::format("\"size_sum\": {}, \"fname\": {}, \"hostname\": {}",
                       number_or_null(call.bytes), text_or_null(call.file), json_quote(host_));
  std::string text = fmt::format("\"hhash\": \"{}\"", hash_of(host_));
  if (!call.file.empty()) text += fmt::format(", \"fhash\": \"{}\"", hash_of(call.file));
  if (call.bytes) text += fmt::format(", \"size_sum\": {}", *call.bytes);
  return text;
}

std::string PfwLines::counter(const PfwCall& call) {
  const std::string before = file_line(call.file);
  const std::string seconds =
      call.time_ns
          ? fmt::format(", \"time\": {}", real_text(static_cast<double>(*call.time_ns) / 1e9))
          : "";
  return before + start(call, 'C') +
         fmt::format("\"args\": {{\"{}\": {}{}, {}}}}}\n", generation_ < 2 ? "count" : "freq",
                     call.count, seconds, more(call));
}

std::string PfwLines::call(const PfwCall& call) {
  const std::string before = file_line(call.file);
  return before + start(call, 'X') +
         fmt::format("\"dur\": {}, \"args\": {{{}}}}}\n", time(call.time_ns.value_or(0)),
                     more(call));
}

std::string PfwLines::gauge(std::string_view name, std::string_view unit, int64_t at_ns,
                            double value) {
  return fmt::format(
      "{{\"pid\": 0, \"tid\": 0, \"name\": {}, \"cat\": \"{}\", \"ph\": \"C\", "
      "\"ts\": {}, \"args\": {{\"value\": {}, \"unit\": {}, \"hostname\": {}}}}}\n",
      json_quote(name), host_category(name), time(at_ns), real_text(value), json_quote(unit),
      json_quote(host_));
}

}  // namespace fathom
