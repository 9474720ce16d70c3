// SPDX-License-Identifier: Apache-2.0
#include "report/flame_page.h"

#include <fmt/format.h>

#include <numeric>

#include "base/text.h"
#include "report/flame_colours.h"
#include "report/flame_page_data.h"
#include "report/flame_page_parts.h"
#include "report/page_head.h"
#include "report/xml_text.h"

namespace fathom {
namespace {

constexpr size_t kHeadColumns = 1000;
constexpr size_t kNoteColumns = 2000;

std::string script_text() {
  return fmt::format("(() => {{\n'use strict';{}{}{}{}}})();\n", kFlamePageScriptData,
                     kFlamePageScriptDraw, kFlamePageScriptTools, kFlamePageScriptHeat);
}

// A choice that the script fills, or hides where there is nothing to choose.
std::string choice(const char* id, const char* label) {
  return fmt::format("<label hidden>{} <select id=\"{}\"></select></label>\n", label, id);
}

// What colours mean: of a difference, else those kinds of code that there are.
std::string key_text(const Profile& profile, const FlamePage& page) {
  std::string keys;
  if (page.mode == FlamePage::Mode::kDiff) {
    keys = fmt::format(
        "<span class=\"key more\"></span>more in {}<span class=\"key less\"></span>less"
        "<span class=\"key same\"></span>no more than chance"
        "<span class=\"sign\">+</span>appeared<span class=\"sign\">−</span>vanished",
        xml_text(page.sets[1], kHeadColumns));
  } else {
    // Attributes of a picture: the page's policy allows no styles on elements.
    std::vector<uint32_t> nodes(profile.tree.nodes.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    for (const ColourKey& key : colour_keys(profile, nodes))
      keys += fmt::format(
          "<svg class=\"key\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect width=\"10\" "
          "height=\"10\" rx=\"2\" fill=\"{}\"/></svg>{}",
          key.colour, key.name);
  }
  return "<p class=\"keys\">Colours:" + keys + "</p>\n";
}

std::string head_text(const Profile& profile, const FlamePage& page, std::string_view script) {
  return page_head(kFlamePageMark, script, kFlamePageStyle, page.title) +
         fmt::format(
             R"(<header>
<h1>{}</h1>
<p>{}</p>
<p class="notes">{}</p>
{}<noscript><p>This picture is drawn by a script, and scripts are switched off here: fathom report --as flamegraph writes one that needs none.</p></noscript>
</header>
)",
             xml_text(page.title, kHeadColumns), xml_text(join(page.facts, " · "), kNoteColumns),
             xml_text(join(page.notes, " · "), kNoteColumns), key_text(profile, page));
}

std::string tools_text() {
  std::string text = R"(<div class="tools" role="toolbar" aria-label="Choices">
<input id="search" type="text" placeholder="Search: regex   /" spellcheck="false" aria-label="Search by regular expression">
<output id="found"></output>
<button type="button" id="reset" title="Esc" hidden>Reset zoom</button>
<button type="button" id="flip" title="i: callers at the top">Icicle</button>
<button type="button" id="turn" title="r: from the leaves to their callers">Reverse</button>
<button type="button" id="normalise" title="n: by share, not by amount">Normalised</button>
<button type="button" id="beside" title="t">Table</button>
)";
  for (const auto& [id, label] : {std::pair("width", "Widths"), std::pair("event", "Event"),
                                  std::pair("run", "Run"), std::pair("process", "Process"),
                                  std::pair("thread", "Thread"), std::pair("rate", "Rate, Hz")})
    text += choice(id, label);
  return text + R"(<span id="sum"></span>
</div>
<section id="heat" hidden>
<canvas id="heatmap" tabindex="0" role="application" aria-label="Samples over time; arrow keys choose a cell, with Shift a range"></canvas>
<p><span id="range"></span> <button type="button" id="whole" hidden>Whole run</button></p>
</section>
<main>
<div id="graph"><div id="sheet"><canvas id="flame" tabindex="0" role="application" aria-label="Stacks; arrow keys walk from frame to frame, Enter zooms, Escape goes back" aria-describedby="detail"></canvas></div></div>
<aside id="table" aria-label="Functions"><table><thead><tr id="heads"></tr></thead><tbody id="rows"></tbody></table><p id="more"></p></aside>
</main>
<p id="detail" aria-live="polite">Click to zoom · / to search · arrow keys walk · i, r, t turn things</p>
<div id="tip" hidden></div>
)";
}

}  // namespace

ProfileFilter page_filter(ProfileFilter filter) {
  filter.keep_parts = filter.all_events = filter.keep_times = true;
  return filter;
}

std::string write_flame_page(const Profile& profile, const FlamePage& page) {
  const std::string script = script_text();
  const FlamePageData data = flame_page_data(profile, page);
  std::string out = head_text(profile, page, script) + tools_text();
  const auto add = [&out](const char* id, const char* type, const std::string& text) {
    out += fmt::format("<script type=\"{}\" id=\"{}\">", type, id);
    out += text;
    out += "</script>\n";
  };
  add("nodes", "text/plain", data.nodes);
  add("parts", "text/plain", data.parts);
  add("colours", "text/plain", data.colours);
  add("data", "application/json", data.json);
  return out + "<script>" + script + "</script>\n</body>\n</html>\n";
}

}  // namespace fathom
