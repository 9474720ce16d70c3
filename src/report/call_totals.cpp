// SPDX-License-Identifier: Apache-2.0
#include "report/call_totals.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace fathom {
namespace {

struct Total {
  CallFigures figures;
  bool is_call = false;
};
using TotalsByName = std::map<std::pair<std::string_view, std::string_view>, Total>;  // with layer

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
    Total& total = functions[{layer, sums.text(function.name)}];
    total.figures += sum.figures;
    const bool has_file = sum.key.file != StringId::kNone;
    total.is_call |= has_file || sum.figures.time_ns || sum.figures.bytes;
    if (has_file) files[{layer, sums.text(sum.key.file)}].figures += sum.figures;
  }
  CallTotals found;
  for (const auto& [name, total] : functions) {
    if (total.is_call)  // else an event that was only counted
      found.functions.push_back({std::string(name.first), std::string(name.second), total.figures});
  }
  for (const auto& [name, total] : files)
    found.files.push_back({std::string(name.first), std::string(name.second), total.figures});
  sort_by(found.functions, [](const CallTotal& total) {
    return std::tuple(total.figures.time_ns, total.figures.calls);
  });
  sort_by(found.files, [](const CallTotal& total) {
    return std::tuple(total.figures.bytes, total.figures.time_ns);
  });
  return found;
}

}  // namespace fathom
