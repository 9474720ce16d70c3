// SPDX-License-Identifier: Apache-2.0
// Calls of the CUDA driver and what ran on devices, as bars: at a distance one where many are.
#include "report/html_parts.h"

namespace fathom {

const std::string_view kHtmlScriptCalls = R"js(
for (const lane of data.calls.lanes) {
  let time = 0;
  lane.from = lane.t.map(step => (time += step) / 1000);
  lane.to = lane.from.map((from, i) => from + lane.d[i] / 1000);
}

function drawCalls(shown) {
  const {lanes, names} = data.calls, plot = clear(shown.svg, lanes.length * LANE + 4);
  lanes.forEach((lane, row) => {
    const y = 2 + row * LANE;
    make(shown.svg, 'text', {x: LEFT - 7, y: y + 11.5, 'text-anchor': 'end'}, fitted(lane.title, LEFT - 8));
    let many = null;  // where bars too short to be told apart follow each other
    const end = () => {
      if (many) make(plot, 'rect', {class: 'bar thin p5', x: many.x, y, width: Math.max(1, many.end - many.x), height: LANE - 3});
      many = null;
    };
    for (let i = 0; i < lane.from.length; ++i) {
      if (lane.to[i] < view.from || lane.from[i] > view.to) continue;
      const x = Math.max(across(lane.from[i]), -5), to = Math.min(across(lane.to[i]), room() + 5);
      if (to - x < 3) {
        if (many && x - many.end > 1) end();
        if (many) many.end = Math.max(many.end, to); else many = {x, end: to};
        continue;
      }
      end();
      make(plot, 'rect', {class: 'call p' + lane.n[i] % 7, x, y, width: to - x, height: LANE - 3, rx: 1});
      const label = fitted(names[lane.n[i]], Math.min(to, room()) - Math.max(x, 0) - 6);
      if (label) make(plot, 'text', {class: 'bartext', x: Math.max(x, 0) + 3, y: y + 11.5}, label);
    }
    end();
  });
}

function addCalls() {
  const shown = startPanel('Calls and devices', '');
  shown.output = block(shown.keys, 'output');
  return shown;
}

// What each row does at a moment.
function callsAt(time) {
  return data.calls.lanes.map(lane => {
    const at = lane.from.findIndex((from, i) => from <= time && lane.to[i] >= time);
    return at < 0 ? '' : `${lane.title}: ${data.calls.names[lane.n[at]]}, ${duration(lane.d[at] / 1000)}`;
  }).filter(text => text).slice(0, 3).join(' · ');
}
)js";

}  // namespace fathom
