// SPDX-License-Identifier: Apache-2.0
// Differences as a picture, and as folded stacks for other tools.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "import/folded_line.h"
#include "report/diff_report.h"
#include "report/flame_svg.h"
#include "report/profile_diff.h"

namespace fathom {
namespace {

constexpr double kWhole = 1e12;  // of a side, where shares are drawn
using Rgb = std::array<int, 3>;
constexpr Rgb kSame = {0xd9, 0xdc, 0xe1};
constexpr Rgb kMore = {0xe8, 0x50, 0x3a};
constexpr Rgb kLess = {0x4a, 0x86, 0xdd};

std::string mixed(const Rgb& to, double part) {
  std::string colour = "#";
  for (size_t i = 0; i < 3; ++i) {
    const double value = kSame[i] + (to[i] - kSame[i]) * part;
    colour += fmt::format("{:02x}", static_cast<int>(std::lround(value)));
  }
  return colour;
}

std::string colour_of(const ProfileDiff& diff, uint32_t node) {
  const Change change = diff.node(node);
  if (!change.seen) return mixed(kSame, 0);
  const double part = std::sqrt(std::abs(change.delta) / std::max(diff.strongest, 1e-9));
  return mixed(change.delta > 0 ? kMore : kLess, std::min(1.0, 0.3 + 0.7 * part));
}

// "+" of what appeared, "−" of what vanished.
std::string sign_of(const ProfileDiff& diff, uint32_t node) {
  if (node == 0) return {};
  if (diff.sides[0].node_total[node].weight == 0) return "+ ";
  return diff.sides[1].node_total[node].weight == 0 ? "− " : "";
}

// Worked out where samples were taken and added up from there, so that boxes fill their caller.
std::vector<int64_t> widths_of(const ProfileDiff& diff, ReportOptions::Width width) {
  const CallTree& tree = diff.profile.tree;
  std::vector<int64_t> widths(tree.nodes.size());
  for (size_t side = 0; side < 2; ++side) {
    if (width == (side == 0 ? ReportOptions::Width::kAfter : ReportOptions::Width::kBefore))
      continue;
    const ClassSums& of = diff.sides[side];
    const double scale = diff.normalised ? kWhole / static_cast<double>(of.all.weight) : 1;
    for (size_t i = 0; i < widths.size(); ++i)
      widths[i] += std::llround(static_cast<double>(of.node_self[i].weight) * scale);
  }
  for (size_t i = widths.size() - 1; i > 0; --i) widths[tree.nodes[i].parent] += widths[i];
  return widths;
}

std::string figures_of(const ProfileDiff& diff, uint32_t node) {
  const Change change = diff.node(node);
  const char* sign = change.delta < 0 ? "−" : "+";
  std::string text =
      fmt::format("{} {:.2f} % · {} {:.2f} % · {}{:.2f} ({})", diff.names[0], 100 * change.before,
                  diff.names[1], 100 * change.after, sign, 100 * std::abs(change.delta),
                  signed_interval_text(change.interval));
  if (!change.seen) return text + " · no difference seen";
  if (change.before == 0) text += " · appeared";
  if (change.after == 0) text += " · vanished";
  return text;
}

std::string width_text(ReportOptions::Width width, const ProfileDiff& diff) {
  if (width == ReportOptions::Width::kBefore) return "Widths: " + diff.names[0];
  if (width == ReportOptions::Width::kAfter) return "Widths: " + diff.names[1];
  return "Widths: both sides together";
}

Status write_picture(ProfileSources sources, const ReportOptions& options, bool icicle) {
  TRY_ASSIGN(const ProfileDiff diff, load_diff(sources, options));
  std::vector<std::string> notes = {width_text(options.width, diff)};
  for (std::string& note : diff_notes(diff)) notes.push_back(std::move(note));
  static const std::string kMoreColour = mixed(kMore, 1), kLessColour = mixed(kLess, 1),
                           kSameColour = mixed(kSame, 1);
  const FlamePicture picture = {
      .profile = diff.profile,
      .icicle = icicle,
      .title = diff.names[0] + " → " + diff.names[1],
      .facts = diff_facts(diff),
      .notes = notes,
      .widths = widths_of(diff, options.width),
      .figures = [&](uint32_t node) { return figures_of(diff, node); },
      .colour = [&](uint32_t node) { return colour_of(diff, node); },
      .sign = [&](uint32_t node) { return sign_of(diff, node); },
      .keys = {{"more", kMoreColour.c_str()},
               {"less", kLessColour.c_str()},
               {"no more than chance", kSameColour.c_str()},
               {"+ appeared", nullptr},
               {"− vanished", nullptr}},
  };
  return print_to(options.out, write_flame_svg(picture));
}

}  // namespace

Status write_diff_flamegraph(ProfileSources sources, const ReportOptions& options) {
  return write_picture(sources, options, false);
}

Status write_diff_icicle(ProfileSources sources, const ReportOptions& options) {
  return write_picture(sources, options, true);
}

Status write_diff_folded(ProfileSources sources, const ReportOptions& options) {
  TRY_ASSIGN(const ProfileDiff diff, load_diff(sources, options));
  const CallTree& tree = diff.profile.tree;
  std::vector<std::string> lines;
  for (uint32_t i = 1; i < tree.nodes.size(); ++i) {
    const int64_t before = diff.sides[0].node_self[i].weight;
    const int64_t after = diff.sides[1].node_self[i].weight;
    if (before == 0 && after == 0) continue;
    std::string path;
    for (uint32_t at = i; at != 0; at = tree.nodes[at].parent) {
      const Function& function = diff.profile.function_of(tree.nodes[at]);
      std::string name = printable(function.name);
      std::replace(name.begin(), name.end(), ';', ':');
      name += folded_suffix(function.kind);
      if (!path.empty()) name.append(";").append(path);
      path = std::move(name);
    }
    lines.push_back(fmt::format("{} {} {}\n", path, before, after));
  }
  std::sort(lines.begin(), lines.end());
  return print_to(options.out, join(lines, ""));
}

}  // namespace fathom
