// SPDX-License-Identifier: Apache-2.0
// The first part of the script: what the page holds, as arrays. Nodes come in depth-first order, so
// that a subtree is a range and every sum is one pass.
#include "report/flame_page_parts.h"

namespace fathom {

const std::string_view kFlamePageScriptData = R"js(
const byId = (id) => document.getElementById(id);
const D = JSON.parse(byId('data').textContent);
const SETS = D.sets.length, DIFF = SETS === 2;

// ---- Reading ----

function reader(id) {
  const text = atob(byId(id).textContent);
  let at = 0;
  return () => {
    let c = text.charCodeAt(at++);
    if (c < 128) return c;
    let value = c & 127, unit = 128;
    do {
      c = text.charCodeAt(at++);
      value += (c & 127) * unit;
      unit *= 128;
    } while (c > 127);
    return value;
  };
}

// parent, fn, depth and end (behind the last of the subtree) of each node; 0 is everything.
function makeTree(n) {
  const tree = {n, parent: new Int32Array(n), fn: new Int32Array(n).fill(-1), depth: new Int32Array(n),
                end: new Int32Array(n), levels: 1, x: new Float64Array(n), width: new Float64Array(n), self: [], total: []};
  for (let s = 0; s < SETS; ++s) {
    tree.self.push(new Float64Array(n));
    tree.total.push(new Float64Array(n));
  }
  return tree;
}
function closeTree(tree) {
  const {n, parent, end, depth} = tree;
  let deepest = 0;
  for (let i = n - 1; i >= 0; --i) {
    if (end[i] === 0) end[i] = i + 1;
    if (i > 0 && end[parent[i]] < end[i]) end[parent[i]] = end[i];
    if (depth[i] > deepest) deepest = depth[i];
  }
  tree.levels = deepest + 1;
  return tree;
}
function readTree() {
  const tree = makeTree(D.nodes), next = reader('nodes'), path = [0];
  for (let i = 1; i < D.nodes; ++i) {
    const depth = tree.depth[i - 1] + 1 - next();
    tree.fn[i] = next();
    tree.depth[i] = depth;
    tree.parent[i] = path[depth - 1];
    path[depth] = i;
  }
  return closeTree(tree);
}
function readParts() {
  const n = D.parts, next = reader('parts');
  const parts = {n, node: new Int32Array(n), group: new Int32Array(n), cell: D.cell_ns ? new Int32Array(n) : null,
                 weight: new Float64Array(n), samples: new Float64Array(n), squares: new Float64Array(n)};
  for (let i = 0, node = 0, cell = 0; i < n; ++i) {
    const step = next();
    if (step) cell = 0;
    parts.node[i] = node += step;
    parts.group[i] = next();
    if (D.cell_ns) parts.cell[i] = next();
    parts.samples[i] = next();
    parts.weight[i] = D.unit_weight ? parts.samples[i] * D.unit_weight : next();
    const spread = D.unit_weight ? 0 : next() / 1000;
    parts.squares[i] = parts.samples[i] ? parts.weight[i] ** 2 / parts.samples[i] * (1 + spread) : 0;
  }
  return parts;
}

const callers = readTree(), parts = readParts();
const F = D.names.length;
const colours = (() => {
  const next = reader('colours'), out = new Array(F);
  for (let i = 0; i < F; ++i) out[i] = '#' + (0x1000000 + next()).toString(16).slice(1);
  return out;
})();

// ---- What is chosen, and the sums of it ----

const state = {icicle: D.mode === 'icicle', reversed: false, event: D.event, process: '', thread: '', rate: '', run: '',
               from: 0, to: Infinity, zoom: 0, chosen: -1, words: '', width: 'both', normalised: D.normalised,
               sort: DIFF ? 'change' : 'self', table: true};
let tree = callers;
let totals = [0, 0], counts = [0, 0], effective = [0, 0];  // of each set: weight, samples, and how many of equal weight tell as much

const threadKey = (group) => group.thread && (DIFF ? group.thread : group.thread + ' · ' + group.tid);
function passing() {
  return D.groups.map((group) => group.event === state.event && (!state.process || group.process === state.process) &&
      (!state.thread || threadKey(group) === state.thread) && (!state.rate || String(group.rate) === state.rate) &&
      (!state.run || group.run === state.run));
}
function eachPart(visit) {
  const pass = passing();
  for (let i = 0; i < parts.n; ++i) {
    if (!pass[parts.group[i]]) continue;
    if (parts.cell && (parts.cell[i] < state.from || parts.cell[i] >= state.to)) continue;
    visit(i, DIFF ? D.groups[parts.group[i]].set : 0);
  }
}
// One rate alone stands for all of the time again.
const rateScale = () => (state.rate && D.rates.length > 1 ? D.rates.reduce((a, b) => a + b, 0) / Number(state.rate) : 1);

function addUp() {
  const scale = rateScale();
  totals = [0, 0];
  counts = [0, 0];
  const squares = [0, 0];
  for (const self of callers.self) self.fill(0);
  eachPart((i, set) => {
    callers.self[set][parts.node[i]] += parts.weight[i] * scale;
    totals[set] += parts.weight[i] * scale;
    counts[set] += parts.samples[i];
    squares[set] += parts.squares[i] * scale * scale;
  });
  effective = counts.map((n, set) => (squares[set] > 0 ? Math.min(n, totals[set] ** 2 / squares[set]) : n));
  tree = state.reversed ? reverse() : callers;
  for (let s = 0; s < SETS; ++s) {
    const total = tree.total[s], {parent} = tree;
    total.set(tree.self[s]);
    for (let i = tree.n - 1; i > 0; --i) total[parent[i]] += total[i];
  }
  place();
}

// From the leaves down: who calls what is hot, taken together.
function reverse() {
  const index = new Map(), parent = [0], fn = [-1], self = Array.from({length: SETS}, () => [0]);
  for (let leaf = 1; leaf < callers.n; ++leaf) {
    const weights = callers.self.map((of) => of[leaf]);
    if (!weights.some((w) => w > 0)) continue;
    let at = 0;
    for (let i = leaf; i > 0; i = callers.parent[i]) {
      const key = at * F + callers.fn[i];
      let child = index.get(key);
      if (child === undefined) {
        index.set(key, child = parent.length);
        parent.push(at);
        fn.push(callers.fn[i]);
        for (const of of self) of.push(0);
      }
      at = child;
    }
    for (let s = 0; s < SETS; ++s) self[s][at] += weights[s];
  }
  return ordered(parent, fn, self);
}
// The same nodes, depth first, those of one caller by name.
function ordered(parent, fn, self) {
  const n = parent.length, kids = Array.from({length: n}, () => null), out = makeTree(n);
  for (let i = 1; i < n; ++i) (kids[parent[i]] ||= []).push(i);
  const todo = [[0, 0]];
  for (let next = 0; todo.length; ++next) {
    const [old, above] = todo.pop();
    out.parent[next] = above;
    out.fn[next] = fn[old];
    out.depth[next] = next ? out.depth[above] + 1 : 0;
    for (let s = 0; s < SETS; ++s) out.self[s][next] = self[s][old];
    const mine = kids[old];
    if (mine) mine.sort((a, b) => fn[b] - fn[a]).forEach((kid) => todo.push([kid, next]));
  }
  return closeTree(out);
}

// ---- Widths ----

const scaleOf = (set) => (DIFF && state.normalised ? 1 / (totals[set] || 1) : 1);
function place() {
  const {n, parent, x, width} = tree, [a, b] = tree.total, next = new Float64Array(n);
  if (!DIFF) width.set(a);
  else {
    const before = state.width === 'after' ? 0 : scaleOf(0), after = state.width === 'before' ? 0 : scaleOf(1);
    for (let i = 0; i < n; ++i) width[i] = a[i] * before + b[i] * after;
  }
  for (let i = 1; i < n; ++i) {
    x[i] = next[parent[i]];
    next[parent[i]] += width[i];
    next[i] = x[i];
  }
}

// ---- Figures ----

const share = (weight, set = 0) => (totals[set] > 0 ? weight / totals[set] : 0);
const percent = (value, digits = 2) => (100 * value).toFixed(digits) + ' %';
const signed = (value, digits = 2) => (value < 0 ? '−' : '+') + (100 * Math.abs(value)).toFixed(digits);
const grouped = (value) => Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ',');
function weightText(weight) {
  if (D.unit === 'ns') {
    for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]])
      if (weight >= size) return (weight / size).toFixed(weight >= 100 * size ? 0 : weight >= 10 * size ? 1 : 2) + ' ' + unit;
    return Math.round(weight) + ' ns';
  }
  return grouped(weight) + ' ' + (D.unit === 'samples' ? 'samples' : state.event);
}
// 95 % intervals, as share_interval.cpp has them: Wilson's of a share of n samples, the one of a number of samples as an
// amount, and Newcombe's of the difference of two values with their intervals.
const Z = 1.959964;
function shareInterval(p, n) {
  if (!(n > 0)) return [0, 1];
  const whole = 1 + Z * Z / n, center = (p + Z * Z / (2 * n)) / whole;
  const half = Z * Math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / whole;
  return [p <= 0 ? 0 : Math.max(0, center - half), p >= 1 ? 1 : Math.min(1, center + half)];
}
function amountInterval(amount, each) {
  if (!(each > 0)) return [amount, amount];
  const count = amount / each, center = count + Z * Z / 2, half = Z * Math.sqrt(count + Z * Z / 4);
  return [each * Math.max(0, center - half), each * (center + half)];
}
const differenceInterval = (a, [aLow, aHigh], b, [bLow, bHigh]) =>
    [b - a - D.noise * Math.hypot(b - bLow, aHigh - a), b - a + D.noise * Math.hypot(bHigh - b, a - aLow)];
// "0.58–4.86", "0.58 to 4.86" and, of a difference, "−0.40 to +2.86", in percent.
const intervalDigits = ([low, high]) => (Math.max(Math.abs(low), Math.abs(high)) < 0.09995 || high - low < 0.01 ? 2 : 1);
const intervalText = (interval, between = ' to ') =>
    interval.map((value) => (100 * value).toFixed(intervalDigits(interval))).join(between);
const signedInterval = (interval) => interval.map((value) => signed(value, intervalDigits(interval))).join(' to ');
// Change of a share with its interval and standard deviation, by chance and by how much runs differ among themselves.
function change(a, b) {
  if (!state.normalised) {
    const [perA, perB] = effective.map((n, set) => (n ? totals[set] / n : 0));
    const most = Math.max(totals[0], totals[1]) || 1;
    const interval = differenceInterval(a, amountInterval(a, perA), b, amountInterval(b, perB)).map((value) => value / most);
    return {delta: (b - a) / most, interval, deviation: D.noise * Math.sqrt(a * perA + b * perB) / most};
  }
  const p = share(a, 0), q = share(b, 1);
  const chance = (p, n) => {  // also where none was seen
    const guess = (p * n + 1) / (n + 2);
    return guess * (1 - guess) / (n + 2);
  };
  const variance = chance(p, effective[0]) + chance(q, effective[1]);
  const [low, high] = differenceInterval(p, shareInterval(p, effective[0]), q, shareInterval(q, effective[1]));
  return {delta: q - p, interval: [Math.max(-1, low), Math.min(1, high)], deviation: D.noise * Math.sqrt(variance)};
}
)js";

}  // namespace fathom
