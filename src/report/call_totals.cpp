// SPDX-License-Identifier: Apache-2.0
#include "report/call_totals.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/io_class.h"

namespace fathom {
namespace {

using TotalsByName = std::map<std::pair<std::string_view, std::string_view>, CallFigures>;

template <class Key>
void sort_by(std::vector<CallTotal>& totals, const Key& key) {
  std::stable_sort(totals.begin(), totals.end(),
                   [&](const CallTotal& a, const CallTotal& b) { return key(a) > key(b); });
}

}  // namespace

Result<CallTotals> load_call_totals(const Recording& recording) {
  CallSums sums;
  TRY(sums.add(recording));
  TotalsByName functions, files;
  for (const CallSums::Sum& sum : sums.sums()) {
    const CalledFunction& function = sums.functions()[sum.key.function];
    const std::string_view layer = sums.text(function.layer);
    if (is_event_layer(layer)) continue;
    functions[{layer, sums.text(function.name)}] += sum.figures;
    if (sum.key.file != StringId::kNone) files[{layer, sums.text(sum.key.file)}] += sum.figures;
  }
  CallTotals found;
  for (const auto& [name, figures] : functions)
    found.functions.push_back({std::string(name.first), std::string(name.second), figures});
  for (const auto& [name, figures] : files)
    found.files.push_back({std::string(name.first), std::string(name.second), figures});
  sort_by(found.functions, [](const CallTotal& total) {
    return std::tuple(total.figures.time_ns, total.figures.calls);
  });
  sort_by(found.files, [](const CallTotal& total) {
    return std::tuple(total.figures.bytes, total.figures.time_ns);
  });
  return found;
}

Error no_calls_error(const Recording& recording) {
  return {
      Code::kNotFound, recording.path() + " contains no calls",
      "record calls with: fathom run --probe io -- COMMAND; for stacks: --as flamegraph; for any "
      "table: --as csv --table TABLE"};
}

}  // namespace fathom
