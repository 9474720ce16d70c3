// SPDX-License-Identifier: Apache-2.0
#include "report/io_json.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_text.h"

namespace fathom {
namespace {

constexpr size_t kMostFiles = 100;  // and call sites

std::string bound_json(const std::optional<LatencyCounts::Bound>& bound) {
  return bound ? std::to_string(bound->ns) : "null";
}

std::string function_json(const IoFunction& function) {
  const CallFigures& figures = function.figures;
  const LatencyCounts& latency = *function.latency;
  const bool exact = latency.calls() > 0 && latency.longest()->exact;
  return fmt::format(
      "{{\"layer\":{},\"name\":{},\"kind\":{},\"calls\":{},\"errors\":{},\"bytes\":{},"
      "\"time_ns\":{},\"self_time_ns\":{},\"p50_ns\":{},\"p95_ns\":{},\"p99_ns\":{},\"max_ns\":{},"
      "\"exact\":{}}}",
      json_quote(function.layer), json_quote(function.name),
      json_quote(io_class_name(function.io_class)), figures.calls, number_json(figures.errors),
      number_json(figures.bytes), number_json(figures.time_ns), number_json(figures.self_time_ns),
      bound_json(latency.percentile(50)), bound_json(latency.percentile(95)),
      bound_json(latency.percentile(99)), bound_json(latency.longest()), exact);
}

std::string file_json(const IoFile& file) {
  const IoFigures& figures = file.figures;
  return fmt::format(
      "{{\"name\":{},\"calls\":{},\"opens\":{},\"reads\":{},\"read_bytes\":{},\"writes\":{},"
      "\"written_bytes\":{},\"errors\":{},\"time_ns\":{}}}",
      json_quote(file.name), figures.calls, figures.opens, figures.reads, figures.read_bytes,
      figures.writes, figures.written_bytes, number_json(figures.errors),
      number_json(figures.io_ns));
}

std::string site_json(const CallSite& site) {
  return fmt::format(
      "{{\"place\":{},\"caller\":{},\"name\":{},\"calls\":{},\"bytes\":{},\"time_ns\":{}}}",
      json_quote(site.place), json_quote(site.caller), json_quote(site.name), site.figures.calls,
      number_json(site.figures.bytes), number_json(site.figures.time_ns));
}

template <class Item>
std::string list_json(const std::vector<Item>& items, size_t most,
                      std::string (*json_of)(const Item&)) {
  std::string json = "[";
  for (size_t i = 0; i < items.size() && i < most; ++i)
    json += std::string(i == 0 ? "" : ",") + "\n      " + json_of(items[i]);
  return json + (json.size() > 1 ? "\n    ]" : "]");
}

}  // namespace

std::string io_json(const IoProfile& profile) {
  const IoFigures& total = profile.total;
  return fmt::format(
      "{{\n    \"layer\": {},\n    \"calls\": {},\n    \"traced_calls\": {},\n    \"filters\": "
      "{},\n"
      "    \"errors\": {},\n    \"read_bytes\": {},\n"
      "    \"written_bytes\": {},\n    \"io_ns\": {},\n    \"wait_ns\": {},\n"
      "    \"processes\": {},\n    \"threads\": {},\n    \"file_count\": {},\n"
      "    \"functions\": {},\n    \"call_sites\": {},\n    \"files\": {}\n  }}",
      json_quote(profile.layer), total.calls, profile.traced_calls,
      profile.coverage ? json_quote(profile.coverage->filters) : "null", number_json(total.errors),
      total.read_bytes, total.written_bytes, number_json(total.io_ns), total.wait_ns,
      profile.processes.size(), profile.threads.size(), profile.files.size(),
      list_json(profile.functions, SIZE_MAX, function_json),
      list_json(profile.sites, kMostFiles, site_json),
      list_json(profile.files, kMostFiles, file_json));
}

}  // namespace fathom
