// SPDX-License-Identifier: Apache-2.0
#include "report/flamegraph_report.h"

#include <fmt/format.h>

#include <iterator>

#include "report/flame_layout.h"
#include "report/flame_page.h"
#include "report/profile_text.h"

namespace fathom {
namespace {

std::string figures(const Profile& profile, const CallNode& node) {
  std::string text = fmt::format("{:.2f} % · {}", 100 * profile.share(node.total.weight),
                                 weight_text(profile, node.total.weight));
  if (node.self.weight > 0 && node.self.weight != node.total.weight)
    fmt::format_to(std::back_inserter(text), " · {:.2f} % in itself",
                   100 * profile.share(node.self.weight));
  return text;
}

Status write_picture(ProfileSources sources, const ReportOptions& options, bool icicle) {
  TRY_ASSIGN(const Profile profile, load_profile(sources, options.filter));
  std::vector<std::string> colours(profile.functions.size());
  const FlamePicture picture = {
      .profile = profile,
      .icicle = icicle,
      .title = profile.command,
      .facts = profile_facts(profile),
      .notes = profile_notes(profile),
      .widths = weights_of(profile.tree),
      .figures = [&](uint32_t node) { return figures(profile, profile.tree.nodes[node]); },
      .colour =
          [&](uint32_t node) {
            std::string& colour = colours[profile.tree.nodes[node].function];
            if (colour.empty())
              colour = flame_colour(profile.function_of(profile.tree.nodes[node]));
            return colour;
          },
  };
  return print_to(options.out, write_flame_svg(picture));
}

Status write_page(ProfileSources sources, const ReportOptions& options, FlamePage::Mode mode) {
  TRY_ASSIGN(const Profile profile, load_profile(sources, page_filter(options.filter)));
  const FlamePage page = {.mode = mode,
                          .title = profile.command,
                          .facts = profile_facts(profile),
                          .notes = profile_notes(profile)};
  return print_to(options.out, write_flame_page(profile, page));
}

}  // namespace

Status write_flamegraph_report(ProfileSources sources, const ReportOptions& options) {
  return write_picture(sources, options, false);
}

Status write_icicle_report(ProfileSources sources, const ReportOptions& options) {
  return write_picture(sources, options, true);
}

Status write_flamegraph_page(ProfileSources sources, const ReportOptions& options) {
  return write_page(sources, options, FlamePage::Mode::kFlame);
}

Status write_icicle_page(ProfileSources sources, const ReportOptions& options) {
  return write_page(sources, options, FlamePage::Mode::kIcicle);
}

Status write_heatmap_page(ProfileSources sources, const ReportOptions& options) {
  return write_page(sources, options, FlamePage::Mode::kHeat);
}

}  // namespace fathom
