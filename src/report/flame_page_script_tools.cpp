// SPDX-License-Identifier: Apache-2.0
// The third part of the script: search, choices, keys and the table beside the picture.
#include "report/flame_page_parts.h"

namespace fathom {

const std::string_view kFlamePageScriptTools = R"js(
const input = byId('search'), found = byId('found'), detail = byId('detail'), tip = byId('tip');
function element(name, properties, parent) {
  const made = Object.assign(document.createElement(name), properties);
  if (parent) parent.append(made);
  return made;
}

// ---- Search ----

// Capitals count where the words have some.
function search() {
  const words = state.words = input.value;
  let pattern = null;
  input.classList.remove('bad');
  try {
    pattern = words && new RegExp(words, /[A-Z]/.test(words) ? '' : 'i');
  } catch (error) {
    input.classList.add('bad');
    found.textContent = 'no regular expression';
  }
  matches = null;
  if (!words || pattern === null) {
    if (!words) found.textContent = '';
    return drawSoon();
  }
  matches = new Uint8Array(F);
  let any = false;
  for (let fn = 0; fn < F; ++fn) if (pattern.test(D.names[fn])) any = matches[fn] = 1;
  found.textContent = any ? 'matched ' + tree.total.map((of, set) => percent(share(matched(of), set))).join(' → ') : 'no match';
  if (!any) matches = null;
  drawSoon();
}
// A match within a match counts once.
function matched(of) {
  let sum = 0;
  for (let i = 1; i < tree.n;) {
    if (matches[tree.fn[i]]) {
      sum += of[i];
      i = tree.end[i];
    } else ++i;
  }
  return sum;
}

// ---- The table ----

function functionSums() {
  const sums = tree.total.map(() => ({self: new Float64Array(F), total: new Float64Array(F)}));
  const open = new Int32Array(F);  // behind the outermost subtree of the function
  for (let i = 1; i < callers.n; ++i) {
    const fn = callers.fn[i], first = i >= open[fn];
    if (first) open[fn] = callers.end[i];
    for (let s = 0; s < SETS; ++s) {
      sums[s].self[fn] += callers.self[s][i];
      if (first) sums[s].total[fn] += callerTotal[s][i];
    }
  }
  return sums;
}
let callerTotal = [];
const MOST_ROWS = 200;
const columns = DIFF
    ? [['change', 'Δ self'], ['total', 'Δ total'], ['name', 'function']]
    : [['self', 'self'], ['', '95 %'], ['total', 'total'], ['', '95 %'], ['name', 'function']];
function orderOf(sums) {
  const order = [];
  for (let fn = 0; fn < F; ++fn) if (D.kind_of[fn] !== D.process_kind && sums.some((of) => of.total[fn] > 0)) order.push(fn);
  const by = (part) => (fn) => sums[0][part][fn];
  // What differs comes first, by itself, then by what is below it.
  const moved = (...parts) => (fn) => {
    let rank = 0, most = 0;
    parts.forEach((part, i) => {
      const a = sums[0][part][fn], b = sums[1][part][fn];
      if (differs(a, b)) rank = Math.max(rank, 4 - 2 * i);
      most = Math.max(most, Math.abs(change(a, b).delta));
    });
    return rank + most;
  };
  const keys = DIFF ? {change: moved('self', 'total'), total: moved('total')} : {self: by('self'), total: by('total')};
  if (state.sort === 'name') return order;
  const key = keys[state.sort], value = new Float64Array(F);
  for (const fn of order) value[fn] = key(fn);
  return order.sort((a, b) => value[b] - value[a]);
}
function fillTable() {
  const body = byId('rows');
  if (!state.table) return;
  const {parent} = callers;
  callerTotal = callers.self.map((self) => Float64Array.from(self));
  for (const of of callerTotal) for (let i = callers.n - 1; i > 0; --i) of[parent[i]] += of[i];
  const sums = functionSums(), order = orderOf(sums);
  body.replaceChildren(...order.slice(0, MOST_ROWS).map((fn) => tableRow(fn, sums)));
  byId('more').textContent = order.length > MOST_ROWS ? grouped(order.length - MOST_ROWS) + ' more functions' : '';
  for (const head of document.querySelectorAll('th[data-sort]')) {
    head.setAttribute('aria-sort', head.dataset.sort === state.sort ? 'descending' : 'none');
  }
}
function tableRow(fn, sums) {
  const row = element('tr', {tabIndex: 0, title: D.names[fn] + (D.modules[D.module_of[fn]] ? '\n' + D.modules[D.module_of[fn]] : '')});
  const cell = (text, className) => element('td', {textContent: text, className}, row);
  if (DIFF) {
    for (const part of ['self', 'total']) {
      const a = sums[0][part][fn], b = sums[1][part][fn], {delta, interval} = change(a, b), seen = differs(a, b);
      cell(signed(delta) + ' (' + signedInterval(interval) + ')', seen > 0 ? 'more' : seen < 0 ? 'less' : 'noise');
      row.title += '\n' + part + ': ' + percent(share(a, 0)) + ' → ' + percent(share(b, 1));
    }
  } else {
    for (const part of ['self', 'total']) {
      const of = share(sums[0][part][fn]);
      cell(percent(of), '');
      cell(intervalText(shareInterval(of, effective[0]), '–'), 'soft');
    }
  }
  const sign = !DIFF ? '' : !(sums[0].total[fn] > 0) ? '+ ' : !(sums[1].total[fn] > 0) ? '− ' : '';
  cell(sign + D.names[fn], 'name');
  const pick = () => {
    input.value = '^' + D.names[fn].replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '$';
    search();
  };
  row.addEventListener('click', pick);
  row.addEventListener('keydown', (event) => { if (event.key === 'Enter') pick(); });
  return row;
}

// ---- Choices ----

// Of a diff the heading says it, unless a part is chosen.
let allCounts = '';
function sayCounts() {
  const words = D.sets.map((name, s) => (DIFF ? name + ': ' : '') + grouped(counts[s]) + ' samples').join(' · ');
  allCounts ||= words;
  byId('sum').textContent = DIFF && words === allCounts ? '' : words;
}
function refresh(keepZoom) {
  const zoomed = keepZoom && tree === callers && !state.reversed ? state.zoom : 0;
  addUp();
  state.zoom = zoomed;
  state.chosen = -1;
  if (DIFF) findLimit();
  if (matches) search();
  fillTable();
  byId('reset').hidden = !zoomed;
  sayCounts();
  drawHeat();
  resize();
  if (!zoomed) toRoot();
}
function chooser(id, key, values, all) {
  const list = byId(id), several = values.length > (all ? 1 : 0);
  list.parentElement.hidden = values.length < 2;
  if (!several) return;
  if (all) element('option', {value: '', textContent: all}, list);
  for (const value of values) element('option', {value, textContent: value.length > 60 ? value.slice(0, 59) + '…' : value}, list);
  list.value = state[key];
  list.addEventListener('change', () => {
    state[key] = list.value;
    refresh(true);
  });
}
const distinct = (values) => Array.from(new Set(values.filter(Boolean))).sort();
chooser('event', 'event', distinct(D.groups.map((group) => group.event)), '');
chooser('process', 'process', distinct(D.groups.map((group) => group.process)), 'all processes');
chooser('thread', 'thread', distinct(D.groups.map(threadKey)), 'all threads');
chooser('rate', 'rate', distinct(D.groups.map((group) => group.rate && String(group.rate))), 'all rates');
chooser('run', 'run', DIFF ? [] : distinct(D.groups.map((group) => group.run)), 'all runs');
chooser('width', 'width', DIFF ? ['both', 'before', 'after'] : [], '');

function toggle(id, key, change) {
  const button = byId(id), show = () => button.setAttribute('aria-pressed', String(state[key]));
  show();
  button.addEventListener('click', () => {
    state[key] = !state[key];
    show();
    change();
  });
}
toggle('flip', 'icicle', () => { resize(); toRoot(); draw(); });
toggle('turn', 'reversed', () => {
  tip.hidden = true;
  refresh(false);
});
toggle('beside', 'table', () => {
  byId('table').hidden = !state.table;
  fillTable();
  resize();
});
toggle('normalise', 'normalised', () => refresh(true));
byId('normalise').hidden = !DIFF;

// ---- Pointing, zooming, keys ----

function zoomTo(i) {
  state.zoom = i;
  byId('reset').hidden = i === 0;
  draw();
}
function choose(i) {
  state.chosen = i;
  detail.textContent = describe(i).join('  ·  ');
  drawSoon();
}
function showTip(event, i) {
  tip.hidden = i < 0;
  if (i < 0) return;
  tip.replaceChildren(...describe(i).map((line) => element('div', {textContent: line})));
  const right = event.clientX > innerWidth / 2, low = event.clientY > innerHeight / 2;
  tip.style.left = right ? '' : event.clientX + 14 + 'px';
  tip.style.right = right ? innerWidth - event.clientX + 14 + 'px' : '';
  tip.style.top = low ? '' : event.clientY + 14 + 'px';
  tip.style.bottom = low ? innerHeight - event.clientY + 14 + 'px' : '';
}
canvas.addEventListener('mousemove', (event) => {
  const i = boxAt(event);
  canvas.classList.toggle('on', i >= 0);
  showTip(event, i);
  if (i >= 0) detail.textContent = describe(i).join('  ·  ');
});
canvas.addEventListener('mouseleave', () => { tip.hidden = true; });
canvas.addEventListener('click', (event) => {
  const i = boxAt(event);
  if (i < 0) return;
  choose(i);
  zoomTo(i);
});
byId('reset').addEventListener('click', () => zoomTo(0));
input.addEventListener('input', search);
graph.addEventListener('scroll', drawSoon);
new ResizeObserver(() => {
  const low = graph.scrollTop + viewHeight >= sheet.clientHeight - 1;
  resize();
  if (low && !state.icicle) toRoot();
}).observe(graph);
addEventListener('resize', drawHeat);

function widest(i) {
  let best = -1;
  for (let kid = i + 1; kid < tree.end[i]; kid = tree.end[kid])
    if (tree.width[kid] > 0 && (best < 0 || tree.width[kid] > tree.width[best])) best = kid;
  return best;
}
function beside(i, step) {
  const row = rows[tree.depth[i]] || [], at = row.findIndex((box) => box.i === i);
  return at >= 0 && row[at + step] ? row[at + step].i : -1;
}
function walk(key) {
  if (state.chosen < 0) return choose(state.zoom);
  const away = (key === 'ArrowDown') === state.icicle;
  const to = key === 'ArrowLeft' ? beside(state.chosen, -1) : key === 'ArrowRight' ? beside(state.chosen, 1)
      : away ? widest(state.chosen) : state.chosen > 0 ? tree.parent[state.chosen] : -1;
  if (to < 0) return;
  choose(to);
  const y = top_(tree.depth[to]);
  if (y < 0) graph.scrollTop += y;
  if (y > viewHeight - ROW) graph.scrollTop += y - viewHeight + ROW;
}
canvas.addEventListener('keydown', (event) => {
  if (event.key.startsWith('Arrow')) walk(event.key);
  else if (event.key === 'Enter' || event.key === ' ') zoomTo(Math.max(0, state.chosen));
  else if (event.key === 'Backspace') zoomTo(state.zoom > 0 ? tree.parent[state.zoom] : 0);
  else return;
  event.preventDefault();
});
addEventListener('keydown', (event) => {
  const typing = document.activeElement === input;
  if ((event.key === '/' && !typing) || (event.key === 'f' && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (event.key === 'Escape') {
    if (input.value) {
      input.value = '';
      search();
    } else {
      state.chosen = -1;
      zoomTo(0);
    }
    input.blur();
  } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const button = {i: 'flip', r: 'turn', t: 'beside', n: 'normalise'}[event.key];
    if (button && !byId(button).hidden) byId(button).click();
  }
});
)js";

}  // namespace fathom
