// SPDX-License-Identifier: Apache-2.0
#include "report/node_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "base/text_style.h"
#include "report/profile_text.h"

namespace fathom {
namespace {

constexpr size_t kUsualRows = 10;
constexpr size_t kFigureColumns = 32;

using Node = std::tuple<std::string, std::string, std::string>;  // function, module, program

}  // namespace

Result<std::string> node_lines(const Recording& recording, std::string_view event,
                               const ReportOptions& options) {
  std::map<Node, int64_t> sums;
  TRY(recording.read(tables_of<NodeSum>(), [&](const Batch& batch) -> Status {
    const Dictionary& names = batch.dictionary;
    for (const NodeSum& node : batch.rows.of<NodeSum>())
      if (names.text(node.event) == event)
        sums[{std::string(names.text(node.symbol)), std::string(names.text(node.module)),
              std::string(names.text(node.program))}] += node.sum;
    return {};
  }));
  std::vector<std::pair<int64_t, const Node*>> order;
  int64_t total = 0;
  for (const auto& [node, sum] : sums) {
    order.emplace_back(sum, &node);
    total += sum;
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (order.size() > kUsualRows) order.resize(kUsualRows);
  const size_t room = options.columns > kFigureColumns + 20 ? options.columns - kFigureColumns : 20;
  std::string text;
  for (const auto& [sum, node] : order) {
    const auto& [function, module, program] = *node;
    const std::string where = fmt::format("{} of {}", module_name(module), program);
    text += fmt::format("{:>20}  {:>6.2f} %  ", format_count(sum),
                        100.0 * static_cast<double>(sum) / static_cast<double>(total)) +
            fit(printable(function) + "  " + printable(where), room) + "\n";
  }
  return text;
}

}  // namespace fathom
