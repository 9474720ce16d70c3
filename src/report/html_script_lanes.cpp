// SPDX-License-Identifier: Apache-2.0
// Marks above the curves, processes below them.
#include "report/html_parts.h"

namespace fathom {

const std::string_view kHtmlScriptLanes = R"js(
const LANE = 18, MARKS = 34, LETTER = 6.1;

// As many letters of a text as fit.
function fitted(text, pixels) {
  const letters = Array.from(text), most = Math.floor(pixels / LETTER);
  if (letters.length <= most) return text;
  return most < 3 ? '' : letters.slice(0, most - 1).join('') + '…';
}

// Words only where there is room beside the next one, in two rows.
function drawMarks(shown) {
  const plot = clear(shown.svg, MARKS), free = [0, 0];
  data.marks.forEach(([time, text]) => {
    if (time < view.from || time > view.to) return;
    const x = across(time);
    make(plot, 'path', {class: 'flag', d: `M${x} ${MARKS - 7}l-4 7h8z`});
    const leftward = x + text.length * LETTER + 12 > room() && x > room() / 2;
    const words = fitted(text, Math.min(40 * LETTER, (leftward ? x : room() - x) - 12));
    const wide = words.length * LETTER + 12, start = leftward ? x - wide : x;
    const row = free.findIndex(end => end <= start);
    if (row < 0 || !words) return;
    free[row] = leftward ? x + 6 : x + wide;
    make(plot, 'text', {class: 'marktext', x: leftward ? x - 5 : x + 5, y: 11 + row * 14, 'text-anchor': leftward ? 'end' : 'start'}, words);
  });
}

// The mark at or before a time.
function markAt(time) {
  let found = null;
  for (const mark of data.marks) if (mark[0] <= time) found = mark;
  return found;
}

function drawFolded(plot, y) {
  const {alive} = data.lanes, most = Math.max(...alive), part = length / alive.length;
  for (let i = 0, end; i < alive.length; i = end) {
    for (end = i + 1; end < alive.length && alive[end] === alive[i]; ++end);
    const from = i * part, to = end * part;
    if (alive[i] === 0 || to < view.from || from > view.to) continue;
    make(plot, 'rect', {class: 'folded', x: across(from), y, width: Math.max(.8, across(to) - across(from)), height: LANE - 3,
                        'fill-opacity': .2 + .7 * alive[i] / most});
  }
}

function drawLanes(shown) {
  const {lanes} = data, rows = lanes.rows + (lanes.folded > 0 ? 1 : 0);
  const plot = clear(shown.svg, rows * LANE + 4);
  lanes.bars.forEach(([row, from, to, ended, colour, , , name], number) => {
    if (to < view.from || from > view.to) return;
    const x = Math.max(across(from), -5), end = Math.min(across(to), room() + 5), y = 2 + row * LANE;
    make(plot, 'rect', {class: `bar p${colour}` + (end - x < 4 ? ' thin' : ended ? '' : ' open'), x, y, width: Math.max(1.5, end - x), height: LANE - 3, rx: 2,
                        'data-bar': number});
    const label = fitted(name, Math.min(end, room()) - Math.max(x, 0) - 8);
    if (label) make(plot, 'text', {class: 'bartext', x: Math.max(x, 0) + 4, y: y + 11.5}, label);
  });
  if (lanes.folded > 0) {
    drawFolded(plot, 2 + lanes.rows * LANE);
    make(shown.svg, 'text', {x: LEFT - 7, y: 2 + lanes.rows * LANE + 11.5, 'text-anchor': 'end'}, '+' + commas(lanes.folded));
  }
}

function addLanes() {
  const shown = startPanel('Processes', data.lanes.folded > 0 ? commas(data.lanes.folded) + ' more in the last row' : '');
  const {programs, bars} = data.lanes, used = new Set(bars.map(bar => bar[4]));
  const chip = (number, name) => {
    if (!used.has(number)) return;
    const key = block(shown.keys, 'span');
    const box = make(key, 'svg', {class: 'chip', 'aria-hidden': 'true', viewBox: '0 0 11 11'});
    make(box, 'rect', {class: 'p' + number});
    key.append(fitted(name, 20 * LETTER));
  };
  programs.forEach((name, number) => chip(number, name));
  chip(programs.length, 'others');
  shown.output = block(shown.box.firstChild, 'output');
  shown.box.firstChild.insertBefore(shown.output, shown.keys);
  return shown;
}

function barText([, from, to, ended, , pid, cpu, name]) {
  return `${name} · pid ${pid} · ${duration(from)} to ${ended ? duration(to) : 'the end'}` + (cpu === null ? '' : ` · CPU ${duration(cpu)}`);
}

function runningAt(time) {
  const {bars, alive} = data.lanes;
  const drawn = bars.filter(([, from, to]) => from <= time && to >= time);
  const names = drawn.map(bar => bar[7]).slice(0, 4).join(', ');
  const folded = alive.length ? alive[Math.min(alive.length - 1, Math.floor(time / length * alive.length))] : 0;
  return (drawn.length ? names + (drawn.length > 4 ? ` and ${drawn.length - 4} more` : '') : 'none') +
         (folded ? ` · up to ${folded} of the others` : '');
}
)js";

}  // namespace fathom
