// SPDX-License-Identifier: Apache-2.0
#include "report/folded_report.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "import/folded_line.h"
#include "report/profile_text.h"

namespace fathom {
namespace {

// What a name may not hold there: line ends are gone after printable().
std::string safe_name(const Function& function) {
  std::string name = printable(function.name);
  std::replace(name.begin(), name.end(), ';', ':');
  return name + std::string(folded_suffix(function.kind));
}

struct Line {
  std::string stack;
  int64_t weight = 0;
};

// Where every sample stands for one period of a clock, other tools write how many there were: so do
// we, that files can be compared.
bool counts_samples(const Profile& profile) {
  if (profile.unit != WeightUnit::kNanoseconds || profile.rates_hz.size() != 1) return false;
  const double period_ns = 1e9 / profile.rates_hz.front();
  const double expected = period_ns * static_cast<double>(profile.total.samples);
  return std::abs(static_cast<double>(profile.total.weight) - expected) < expected / 1000;
}

// In depth-first order, so that each stack is its caller's text and one name more.
std::vector<Line> lines_of(const Profile& profile) {
  const bool by_samples = counts_samples(profile);
  std::vector<std::string> names;
  for (const Function& function : profile.functions) names.push_back(safe_name(function));
  std::vector<Line> lines;
  std::vector<uint32_t> todo = {0};
  std::vector<size_t> ends = {0};  // of the path's text, by depth
  std::string path;
  while (!todo.empty()) {
    const uint32_t at = todo.back();
    todo.pop_back();
    const CallNode& node = profile.tree.nodes[at];
    if (at != 0) {
      path.resize(ends[node.depth - 1]);
      if (!path.empty()) path += ';';
      path += names[node.function];
      ends.resize(node.depth + 1);
      ends[node.depth] = path.size();
    }
    const int64_t weight = by_samples ? node.self.samples : node.self.weight;
    if (weight > 0) lines.push_back({path, weight});
    for (const uint32_t child : profile.tree.children_of(at)) todo.push_back(child);
  }
  return lines;
}

}  // namespace

Status write_folded_report(ProfileSources sources, const ReportOptions& options) {
  TRY_ASSIGN(const Profile profile, load_profile(sources, options.filter));
  if (options.aside != nullptr) *options.aside = join(profile_notes(profile), "; ");
  std::vector<Line> lines = lines_of(profile);
  std::sort(lines.begin(), lines.end(),
            [](const Line& a, const Line& b) { return a.stack < b.stack; });
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    int64_t weight = lines[i].weight;  // of the same names in other modules, too
    while (i + 1 < lines.size() && lines[i + 1].stack == lines[i].stack)
      weight += lines[++i].weight;
    text += lines[i].stack + ' ' + std::to_string(weight) + '\n';
    if (text.size() > (size_t{1} << 20)) {
      TRY(print_to(options.out, text));
      text.clear();
    }
  }
  return print_to(options.out, text);
}

}  // namespace fathom
