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

// Where every sample stands for one period of a clock, other tools write how many there were: so do
// we, that files can be compared.
bool counts_samples(const Profile& profile) {
  if (profile.unit != WeightUnit::kNanoseconds || profile.rates_hz.empty()) return false;
  double rate_hz = 0;  // of all together: that many samples stand for a second
  for (const uint32_t rate : profile.rates_hz) rate_hz += rate;
  const double period_ns = 1e9 / rate_hz;
  const double expected = period_ns * static_cast<double>(profile.total.samples);
  return std::abs(static_cast<double>(profile.total.weight) - expected) < expected / 1000;
}

// In depth-first order, so that each stack is its caller's text and one name more.
std::vector<FoldedSum> lines_of(const Profile& profile) {
  const bool by_samples = counts_samples(profile);
  std::vector<std::string> names;
  for (const Function& function : profile.functions) names.push_back(safe_name(function));
  std::vector<FoldedSum> lines;
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
    const Weight sum = by_samples ? Weight{node.self.samples, node.self.samples} : node.self;
    if (sum.weight > 0) lines.push_back({path, sum});
    for (const uint32_t child : profile.tree.children_of(at)) todo.push_back(child);
  }
  return lines;
}

}  // namespace

std::vector<FoldedSum> folded_sums(const Profile& profile) {
  std::vector<FoldedSum> lines = lines_of(profile);
  std::sort(lines.begin(), lines.end(),
            [](const FoldedSum& a, const FoldedSum& b) { return a.stack < b.stack; });
  size_t kept = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (kept > 0 && lines[kept - 1].stack == lines[i].stack) {
      lines[kept - 1].sum += lines[i].sum;  // of the same names in other modules, too
    } else {
      if (kept != i) lines[kept] = std::move(lines[i]);
      ++kept;
    }
  }
  lines.resize(kept);
  return lines;
}

Status write_folded_report(ProfileSources sources, const ReportOptions& options) {
  TRY_ASSIGN(const Profile profile, load_profile(sources, options.filter));
  if (options.aside != nullptr) *options.aside = join(profile_notes(profile), "; ");
  std::string text;
  for (const FoldedSum& line : folded_sums(profile)) {
    text += line.stack + ' ' + std::to_string(line.sum.weight) + '\n';
    if (text.size() > (size_t{1} << 20)) {
      TRY(print_to(options.out, text));
      text.clear();
    }
  }
  return print_to(options.out, text);
}

}  // namespace fathom
