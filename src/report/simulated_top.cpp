// SPDX-License-Identifier: Apache-2.0
#include "report/simulated_top.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/text_style.h"
#include "record/simulated_events.h"
#include "report/label_lines.h"
#include "report/profile_source.h"
#include "report/profile_text.h"
#include "report/text_table.h"

namespace fathom {
namespace {

constexpr size_t kUsualRows = 30;

struct Costs {
  int64_t self = 0;
  Maybe total;  // with what it called; absent: an older recording does not say
};

struct SimulatedFunctions {
  std::map<std::tuple<std::string, std::string, std::string>, Costs> functions;
  std::set<std::string> events;  // that were simulated
  int64_t all = 0;
  std::string command;  // printable
};

Status add_recording(const ProfileSource& source, const std::string& event,
                     SimulatedFunctions& found) {
  if (!source.recording)
    return Error{Code::kInvalid, source.path + " holds folded stacks, nothing simulated",
                 "leave out --event"};
  TRY_ASSIGN(const auto tables, collect(*source.recording, tables_of<Run, NodeSum>()));
  const std::string with_callees = event + std::string(kWithCalleesSuffix);
  for (const NodeSum& node : tables->rows.of<NodeSum>()) {
    const std::string_view name = tables->text(node.event);
    if (name.ends_with(kSimulatedSuffix)) found.events.emplace(name);
    if (name != event && name != with_callees) continue;
    Costs& costs = found.functions[{std::string(tables->text(node.symbol)),
                                    std::string(tables->text(node.module)),
                                    std::string(tables->text(node.program))}];
    if (name == with_callees) {
      costs.total = costs.total.value_or(0) + node.sum;
    } else {
      costs.self += node.sum;
      found.all += node.sum;
    }
  }
  const std::vector<Run>& runs = tables->rows.of<Run>();
  const std::string command = runs.empty() ? "" : printable(tables->text(runs.front().command));
  found.command += (found.command.empty() ? "" : ", ") + command;
  return {};
}

Status check(const SimulatedFunctions& found, const std::string& path, const std::string& event) {
  if (!found.functions.empty()) return {};
  if (found.events.empty())
    return Error{Code::kNotFound, path + " holds nothing simulated",
                 "fathom run --simulate -- COMMAND counts " + printable(event)};
  return Error{Code::kNotFound, path + " holds no function with " + printable(event),
               "there are: " +
                   join(std::vector<std::string>(found.events.begin(), found.events.end()), ", ")};
}

// What a filter asks for that such figures cannot tell apart.
std::string refused_flag(const ProfileFilter& filter) {
  if (filter.from_ns || filter.to_ns) return "--from and --to";
  if (!filter.process.empty()) return "--process";
  if (!filter.thread.empty()) return "--thread";
  if (filter.rate_hz) return "--rate";
  if (filter.lines) return "--lines";
  return filter.group_by == GroupBy::kNone ? "" : "--group-by";
}

std::string share_cell(const Maybe& part, int64_t all) {
  if (!part || all <= 0) return "";
  return fmt::format("{:.2f} %", 100 * static_cast<double>(*part) / static_cast<double>(all));
}

std::string heading(const SimulatedFunctions& found, const ReportOptions& options) {
  const auto line = [&](Style style, std::string_view text) {
    return styled(style, fit(text, options.columns), options.colours) + "\n";
  };
  return line(Style::kHeading, found.command) +
         line(Style::kPlain, fmt::format("{} {} in all", format_count(found.all),
                                         printable(options.filter.event))) +
         line(Style::kFaint, "Simulated by Valgrind: counted one by one, not sampled") +
         line(Style::kFaint,
              "total: with what it called; what calls itself by way of others may be "
              "counted twice") +
         "\n";
}

}  // namespace

bool asks_for_simulated(const ProfileFilter& filter) {
  return std::string_view(filter.event).ends_with(kSimulatedSuffix);
}

Error no_simulated_stacks(const std::string& path, const std::string& event) {
  return {
      Code::kInvalid,
      "simulated events have no stacks: Valgrind adds up what functions and their calls cost, "
      "not by which path they were reached, so that this report would be made up",
      fmt::format("fathom report {} --as top --event {} has functions, alone and with what they "
                  "call",
                  path, printable(event))};
}

Status write_simulated_top(ProfileSources sources, const ReportOptions& options) {
  if (const std::string flag = refused_flag(options.filter); !flag.empty())
    return Error{Code::kInvalid, "simulated figures are of functions in the whole run",
                 "leave out " + flag};
  SimulatedFunctions found;
  for (const ProfileSource& source : sources)
    TRY(add_recording(source, options.filter.event, found));
  TRY(check(found, sources.front().path, options.filter.event));
  using Named = std::pair<std::tuple<std::string, std::string, std::string>, Costs>;
  std::vector<Named> order(found.functions.begin(), found.functions.end());
  std::stable_sort(order.begin(), order.end(), [](const Named& a, const Named& b) {
    return std::pair(a.second.self, a.second.total) > std::pair(b.second.self, b.second.total);
  });
  const size_t limit = options.limit.value_or(kUsualRows);
  const size_t rows = limit == 0 ? order.size() : std::min(limit, order.size());
  TextTable table({{"self"},
                   {"simulated"},
                   {"total"},
                   {"simulated", Side::kRight, 3},
                   {"function", Side::kLeft, 0, 16},
                   {"module", Side::kLeft, 1, 8},
                   {"program", Side::kLeft, 2, 8}});
  for (size_t i = 0; i < rows; ++i) {
    const auto& [symbol, module, program] = order[i].first;
    const Costs& costs = order[i].second;
    table.add({share_cell(costs.self, found.all), format_count(costs.self),
               share_cell(costs.total, found.all), costs.total ? format_count(*costs.total) : "",
               printable(symbol), printable(module_name(module)), printable(program)});
  }
  std::string text = heading(found, options) + table.write(options);
  if (rows < order.size())
    text +=
        fmt::format("{} more functions; --limit 0 shows all\n", format_count(order.size() - rows));
  return print_to(options.out, text);
}

}  // namespace fathom
