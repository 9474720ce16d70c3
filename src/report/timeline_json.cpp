// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "report/timeline_text.h"

namespace fathom {
namespace {

constexpr size_t kNameColumns = 120;
constexpr size_t kUnitColumns = 24;
constexpr size_t kColouredPrograms = 7;  // others share one colour

std::string name_json(std::string_view name, size_t columns = kNameColumns) {
  return json_quote(fit(printable(name), columns));
}

template <class Item, class Write>
std::string list_json(const std::vector<Item>& items, const Write& write) {
  std::string out = "[";
  for (const Item& item : items) {
    if (out.size() > 1) out += ',';
    out += write(item);
  }
  return out + "]";
}

// Where steps begin, in µs, each as what is added to the one before.
std::string times_json(const std::vector<CurvePoint>& points) {
  int64_t before_us = 0;
  return list_json(points, [&](const CurvePoint& point) {
    const int64_t time_us = point.from_ns / 1000, step_us = time_us - before_us;
    before_us = time_us;
    return fmt::format("{}", step_us);
  });
}

std::string values_json(const std::vector<CurvePoint>& points, double CurvePoint::*which) {
  return list_json(points,
                   [&](const CurvePoint& point) { return fmt::format("{:.5g}", point.*which); });
}

std::string curve_json(const Curve& curve) {
  std::string out = fmt::format("{{\"label\":{},\"t\":{},\"end\":{},\"v\":{}",
                                name_json(curve.label), times_json(curve.points),
                                curve.points.empty() ? 0 : curve.points.back().to_ns / 1000,
                                values_json(curve.points, &CurvePoint::value));
  const bool spread = std::any_of(curve.points.begin(), curve.points.end(),
                                  [](const CurvePoint& point) { return point.least < point.most; });
  if (spread) {
    out += fmt::format(",\"lo\":{},\"hi\":{}", values_json(curve.points, &CurvePoint::least),
                       values_json(curve.points, &CurvePoint::most));
  }
  return out + "}";
}

std::string panel_json(const Panel& panel) {
  std::string out = fmt::format("\n{{\"title\":{},\"unit\":{},\"app\":{},\"curves\":{}",
                                name_json(panel.title), name_json(panel.unit, kUnitColumns),
                                panel.from_application, list_json(panel.curves, curve_json));
  if (panel.limit)
    out += fmt::format(",\"limit\":{:.5g},\"limitLabel\":{}", *panel.limit,
                       name_json(panel.limit_label));
  return out + "}";
}

std::string lanes_json(const ProcessLanes& lanes, const Summary& summary) {
  const auto& processes = summary.tables->rows.of<Process>();
  std::vector<std::string> coloured;
  for (const ProgramShare& program : summary.programs) {
    if (coloured.size() < kColouredPrograms) coloured.push_back(program.name);
  }
  const auto bar_json = [&](const ProcessBar& bar) {
    const Process& process = processes[bar.process];
    const auto colour = std::find(coloured.begin(), coloured.end(), summary.text(process.name));
    return fmt::format("\n[{},{},{},{},{},{},{},{}]", bar.lane, bar.start_ns / 1000,
                       bar.end_ns / 1000, bar.ended ? 1 : 0, colour - coloured.begin(), process.pid,
                       process.cpu_ns ? std::to_string(*process.cpu_ns / 1000) : "null",
                       name_json(summary.text(process.name)));
  };
  return fmt::format(
      "{{\"rows\":{},\"programs\":{},\"bars\":{},\"folded\":{},\"alive\":{}}}", lanes.lanes,
      list_json(coloured, [](const std::string& name) { return name_json(name); }),
      list_json(lanes.bars, bar_json), lanes.folded,
      list_json(lanes.folded_alive, [](int64_t count) { return std::to_string(count); }));
}

std::string calls_json(const CallLanes& calls) {
  const auto lane_json = [](const CallLane& lane) {
    int64_t before_ns = 0;
    const std::string times = list_json(lane.bars, [&](const CallBar& bar) {
      const int64_t step_ns = bar.start_ns - before_ns;
      before_ns = bar.start_ns;
      return std::to_string(step_ns);
    });
    return fmt::format(
        "\n{{\"title\":{},\"t\":{},\"d\":{},\"n\":{}}}", name_json(lane.title), times,
        list_json(lane.bars, [](const CallBar& bar) { return std::to_string(bar.duration_ns); }),
        list_json(lane.bars, [](const CallBar& bar) { return std::to_string(bar.name); }));
  };
  return fmt::format(
      "{{\"names\":{},\"lanes\":{}}}",
      list_json(calls.names, [](const std::string& name) { return name_json(name); }),
      list_json(calls.lanes, lane_json));
}

// What could end the script element or start another is written as an escape of JSON. All of it is
// within strings.
std::string within_html(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const CodePoint point = decode_utf8(json);
    const bool unsafe = point.value == '<' || point.value == '>' || point.value == '&' ||
                        point.value == 0x2028 || point.value == 0x2029;
    if (unsafe) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<uint32_t>(point.value));
    } else {
      out += json.substr(0, point.bytes);
    }
    json.remove_prefix(point.bytes);
  }
  return out;
}

}  // namespace

std::string timeline_json(const Timeline& timeline, const Summary& summary) {
  const auto mark_json = [](const TimelineMark& mark) {
    return fmt::format("\n[{},{}]", mark.time_ns / 1000, name_json(mark.text));
  };
  return within_html(
      fmt::format("{{\"length\":{},\"marks\":{},\"lanes\":{},\"calls\":{},\"panels\":{}}}",
                  timeline.length_ns / 1000, list_json(timeline.marks, mark_json),
                  lanes_json(timeline.lanes, summary), calls_json(timeline.calls),
                  list_json(timeline.panels, panel_json)));
}

}  // namespace fathom
