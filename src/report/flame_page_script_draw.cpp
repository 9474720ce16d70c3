// SPDX-License-Identifier: Apache-2.0
// The second part of the script: the picture. Only boxes that can be seen are visited: what is too
// narrow is skipped with all above it.
#include "report/flame_page_parts.h"

namespace fathom {

const std::string_view kFlamePageScriptDraw = R"js(
const graph = byId('graph'), sheet = byId('sheet'), canvas = byId('flame'), pen = canvas.getContext('2d');
const ROW = 18, LEAST = 0.4;
let ink = {}, charWidth = 7.2, rows = [], viewWidth = 0, viewHeight = 0;
let matches = null;  // by function: 1 where the search finds it

function readInk() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['ink', 'soft', 'paper', 'line', 'same', 'more', 'less', 'match', 'pick', 'warm', 'hot']) ink[name] = style.getPropertyValue('--' + name).trim();
}

// ---- Colours ----

const mixed = new Map();
function mix(from, to, part) {
  const key = from + to + part.toFixed(2);
  let colour = mixed.get(key);
  if (!colour) {
    const read = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    const a = read(from), b = read(to);
    colour = '#' + a.map((v, i) => Math.round(v + (b[i] - v) * part).toString(16).padStart(2, '0')).join('');
    mixed.set(key, colour);
  }
  return colour;
}
let strongest = 1, limit = 0;
// How many deviations are more than chance, for as many comparisons as there are.
function findLimit() {
  const [a, b] = tree.total;
  let compared = 0;
  strongest = 1e-9;
  for (let i = 1; i < tree.n; ++i) {
    if (Math.max(share(a[i], 0), share(b[i], 1)) < 0.001) continue;
    ++compared;
    strongest = Math.max(strongest, Math.abs(change(a[i], b[i]).delta));
  }
  limit = tail(0.025 / Math.max(1, compared));
}
// Where the normal distribution has so little left above (Abramowitz and Stegun 26.2.23).
function tail(p) {
  const t = Math.sqrt(-2 * Math.log(p));
  return t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
}
function differs(a, b) {
  const {delta, deviation} = change(a, b);
  return Math.abs(delta) > limit * deviation ? delta : 0;
}
function colourOf(i) {
  const fn = tree.fn[i];
  if (fn < 0) return ink.same;
  if (matches && matches[fn]) return ink.match;
  if (!DIFF) return colours[fn];
  const delta = differs(tree.total[0][i], tree.total[1][i]);
  if (!delta) return ink.same;
  return mix(ink.same, delta > 0 ? ink.more : ink.less, Math.min(1, 0.3 + 0.7 * Math.sqrt(Math.abs(delta) / strongest)));
}

// ---- Names that fit ----

function shorten(name) {
  if (name.includes('operator')) return name;
  let out = '', open = [];
  for (const c of name) {
    if (c === '<' || c === '(') {
      if (!open.length) out += c + '…';
      open.push(c === '<' ? '>' : ')');
    } else if (c === '>' || c === ')') {
      if (open.pop() !== c) return name;
      if (!open.length) out += c;
    } else if (!open.length) out += c;
  }
  return open.length ? name : out;
}
const places = (text) => {
  let sum = 0;
  for (const c of text) sum += c.codePointAt(0) >= 0x1100 ? 2 : 1;
  return sum;
};
function cut(name, room) {
  if (name.length <= room && places(name) <= room) return name;
  let used = 1, out = '';
  for (const c of name) {
    used += places(c);
    if (used > room) break;
    out += c;
  }
  return out + '…';
}
function label(name, pixels) {
  const room = Math.floor((pixels - 6) / charWidth);
  if (room < 2) return '';
  return name.length <= room ? cut(name, room) : cut(shorten(name), room);
}
const nameOf = (i) => (tree.fn[i] < 0 ? 'all' : D.names[tree.fn[i]]);
// In a diff: what one of the two does not have.
function mark(i) {
  if (!DIFF || i === 0) return '';
  if (!(tree.total[0][i] > 0)) return '+ ';
  return tree.total[1][i] > 0 ? '' : '− ';
}

// ---- Boxes ----

const total = () => tree.levels * ROW;
const top_ = (depth) => (state.icicle ? depth * ROW : Math.max(total(), viewHeight) - (depth + 1) * ROW) - graph.scrollTop;
const isAbove = (i) => i < state.zoom && tree.end[i] >= tree.end[state.zoom];

function drawBox(i, x, pixels) {
  const y = top_(tree.depth[i]);
  (rows[tree.depth[i]] ||= []).push({i, x, right: x + pixels});
  if (y < -ROW || y > viewHeight) return;
  const faint = isAbove(i) || (matches && !(tree.fn[i] >= 0 && matches[tree.fn[i]]));
  pen.globalAlpha = faint ? 0.45 : 1;
  pen.fillStyle = colourOf(i);
  pen.fillRect(x, y, Math.max(pixels - (pixels > 2 ? 1 : 0), 0.5), ROW - 1);
  if (pixels > 14) {
    const words = label(mark(i) + nameOf(i), pixels);
    if (words) {
      pen.globalAlpha = faint ? 0.7 : 1;
      pen.fillStyle = '#1d1f24';
      pen.fillText(words, x + 3, y + 13);
    }
  }
  pen.globalAlpha = 1;
  if (i === state.chosen) {
    pen.strokeStyle = ink.ink;
    pen.lineWidth = 2;
    pen.strokeRect(x + 1, y + 1, Math.max(pixels - 3, 1), ROW - 3);
  }
}
function draw() {
  const ratio = devicePixelRatio || 1;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = ink.paper;
  pen.fillRect(0, 0, viewWidth, viewHeight);
  pen.font = '12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
  rows = [];
  const zoom = state.zoom, {end, x, width, parent} = tree;
  if (!(width[zoom] > 0)) return;
  const scale = viewWidth / width[zoom], left = x[zoom];
  const chain = [];
  for (let i = zoom; i > 0; i = parent[i]) chain.push(parent[i]);
  chain.reverse().forEach((i) => drawBox(i, 0, viewWidth));
  for (let i = zoom; i < end[zoom];) {
    const pixels = width[i] * scale;
    if (pixels < LEAST) i = end[i];
    else drawBox(i, (x[i] - left) * scale, pixels), ++i;
  }
}
function resize() {
  const ratio = devicePixelRatio || 1;
  viewWidth = graph.clientWidth;
  viewHeight = graph.clientHeight;
  canvas.width = Math.round(viewWidth * ratio);
  canvas.height = Math.round(viewHeight * ratio);
  canvas.style.width = viewWidth + 'px';
  canvas.style.height = viewHeight + 'px';
  sheet.style.height = Math.max(total(), viewHeight) + 'px';
  draw();
}
let asked = 0;
function drawSoon() {
  if (!asked) asked = requestAnimationFrame(() => { asked = 0; draw(); });
}
function toRoot() {
  graph.scrollTop = state.icicle ? 0 : sheet.clientHeight;
}
function boxAt(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top + graph.scrollTop;
  const depth = Math.floor((state.icicle ? y : Math.max(total(), viewHeight) - y) / ROW);
  for (const found of rows[depth] || []) if (x >= found.x && x < found.right) return found.i;
  return -1;
}

// ---- Words on a frame ----

function figures(i) {
  const lines = [];
  const [a, b] = tree.total.map((of) => of[i]);
  if (DIFF) {
    const {delta, interval} = change(a, b);
    lines.push(D.sets[0] + ' ' + percent(share(a, 0)) + ' · ' + D.sets[1] + ' ' + percent(share(b, 1)));
    lines.push((differs(a, b) ? '' : 'no difference seen: ') + signed(delta) + ' (' + signedInterval(interval) + ')' +
        (state.normalised ? ' points' : ' % of the larger run'));
    if (mark(i)) lines.push(mark(i) === '+ ' ? 'appeared' : 'vanished');
  } else {
    lines.push(percent(share(a)) + ' (' + intervalText(shareInterval(share(a), effective[0])) + ') · ' + weightText(a));
    const self = tree.self[0][i];
    if (!state.reversed && self > 0 && self !== a) lines.push(percent(share(self)) + ' in itself');
  }
  return lines;
}
function describe(i) {
  if (i < 0) return [];
  const fn = tree.fn[i], where = fn < 0 ? '' : [D.modules[D.module_of[fn]], D.kinds[D.kind_of[fn]]].filter(Boolean).join(', ');
  return [nameOf(i), ...(where ? [where] : []), ...figures(i)];
}
)js";

}  // namespace fathom
