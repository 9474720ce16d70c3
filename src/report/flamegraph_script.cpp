// SPDX-License-Identifier: Apache-2.0
// Frames are the elements that the file already holds; the script moves them. Weights are exact in
// data-s (start) and data-w (width), so that zooming far in stays right.
#include "report/flamegraph_parts.h"

namespace fathom {

const std::string_view kFlamegraphScript = R"js(
(() => {
'use strict';
const svg = document.currentScript ? document.currentScript.closest('svg') : document.documentElement;
const SVG = 'http://www.w3.org/2000/svg', HTML = 'http://www.w3.org/1999/xhtml';
const PAD = 10, MIN_PX = 0.1, total = Number(svg.dataset.total);
const header = svg.querySelector('.header'), detail = svg.querySelector('.detail');
const keys = svg.querySelector('.keys'), height = Number(svg.getAttribute('height'));
const idle = detail.textContent, icicle = Boolean(svg.dataset.icicle);

const frames = Array.from(svg.querySelectorAll('.f'), (group) => {
  const [title, rect, text] = group.children;
  const lines = title.textContent.split('\n');
  return {group, rect, text, name: lines[0], sign: group.dataset.m || '', lines, start: Number(group.dataset.s),
          weight: Number(group.dataset.w), y: Number(rect.getAttribute('y'))};
});
const frameOf = new Map(frames.map((frame) => [frame.group, frame]));
const everything = frames[0];
let view = everything, width = 0, charWidth = 7.23;

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
// Wide characters, such as those of East Asia, take two places.
const places = (c) => (c.codePointAt(0) >= 0x1100 ? 2 : 1);
function cut(name, room) {
  let used = 0, out = '';
  for (const c of name) {
    used += places(c);
    if (used > room) {
      const all = Array.from(out);
      let free = room - all.reduce((sum, c) => sum + places(c), 0);
      while (all.length && free < 1) free += places(all.pop());
      return all.join('') + '…';
    }
    out += c;
  }
  return out;
}
function label(name, pixels) {
  const room = Math.floor((pixels - 6) / charWidth);
  if (room < 3) return '';
  return cut(name, room) === name ? name : cut(shorten(name), room);
}

// ---- Where frames stand ----

function place(frame, scale, end) {
  const from = Math.max(frame.start, view.start), to = Math.min(frame.start + frame.weight, end);
  const pixels = (to - from) * scale;
  const shown = pixels >= MIN_PX;
  frame.group.style.display = shown ? '' : 'none';
  if (!shown) return;
  const x = PAD + (from - view.start) * scale;
  frame.rect.setAttribute('x', x.toFixed(2));
  frame.rect.setAttribute('width', Math.max(pixels - (pixels > 2 ? 0.5 : 0), MIN_PX).toFixed(2));
  frame.group.classList.toggle('above', frame !== view && (frame.y > view.y) !== icicle && frame.weight >= view.weight);
  const words = label(frame.sign + frame.name, pixels);
  if (words && !frame.text) {
    frame.text = document.createElementNS(SVG, 'text');
    frame.text.setAttribute('y', frame.y + 12);
    frame.group.append(frame.text);
  }
  if (!frame.text) return;
  frame.text.setAttribute('x', (x + 3).toFixed(2));
  if (frame.text.textContent !== words) frame.text.textContent = words;
}
function draw() {
  const scale = (width - 2 * PAD) / view.weight, end = view.start + view.weight;
  for (const frame of frames) place(frame, scale, end);
  reset.hidden = view === everything;
}
function zoom(frame) {
  view = frame;
  draw();
}

// ---- Search ----

function matcher(words) {
  try {
    input.classList.remove('bad');
    return new RegExp(words, /[A-Z]/.test(words) ? '' : 'i');
  } catch (error) {
    input.classList.add('bad');
    return null;
  }
}
// Capitals count where the words have some. A match within a match counts once: frames come
// parents first, from the left.
function search() {
  const words = input.value, pattern = words && matcher(words);
  let matched = 0, covered = -1, count = 0;
  for (const frame of frames) {
    const hit = Boolean(pattern) && frame !== everything && pattern.test(frame.name);
    frame.group.classList.toggle('match', hit);
    if (!hit) continue;
    ++count;
    if (frame.start < covered) continue;
    matched += frame.weight;
    covered = frame.start + frame.weight;
  }
  svg.classList.toggle('searching', count > 0);
  found.textContent = !words ? '' : !pattern ? 'no regular expression' :
      count ? 'matched ' + (100 * matched / total).toFixed(2) + ' %' : 'no match';
}

// ---- The line above and the tools ----

function element(name, properties, parent) {
  const made = Object.assign(document.createElementNS(HTML, name), properties);
  parent.append(made);
  return made;
}
const corner = document.createElementNS(SVG, 'foreignObject');
corner.setAttribute('width', 480);
corner.setAttribute('height', 30);
corner.setAttribute('y', 6);
header.append(corner);
const tools = element('div', {className: 'tools'}, corner);
const found = element('span', {className: 'found'}, tools);
const reset = element('button', {className: 'reset', textContent: 'Reset zoom', hidden: true,
                                 title: 'Esc'}, tools);
const input = element('input', {type: 'text', placeholder: 'Search: regex   /', spellcheck: false,
                                title: 'A regular expression. Keys: / or Ctrl-F, Esc'}, tools);

function resize() {
  svg.setAttribute('width', '100%');
  width = Math.max(svg.getBoundingClientRect().width || 1200, 480);
  svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
  corner.setAttribute('x', width - 490);
  keys.setAttribute('transform', 'translate(' + (width - PAD) + ' 0)');
  keys.setAttribute('visibility', width < 800 ? 'hidden' : 'visible');
  for (const part of svg.querySelectorAll('.across')) part.setAttribute('width', width);
  svg.querySelector('.rule').setAttribute('x2', width);
  draw();
}
function follow() {
  if (svg === document.documentElement) header.setAttribute('transform', 'translate(0 ' + window.scrollY + ')');
}
const hit = (event) => frameOf.get(event.target.closest ? event.target.closest('.f') : null);

svg.addEventListener('click', (event) => {
  if (hit(event)) zoom(hit(event));
});
svg.addEventListener('mouseover', (event) => {
  const frame = hit(event);
  detail.textContent = frame ? cut(frame.lines.join('  ·  '), Math.floor((width - 20) / charWidth)) : idle;
});
reset.addEventListener('click', () => zoom(everything));
input.addEventListener('input', search);
window.addEventListener('resize', resize);
window.addEventListener('scroll', follow);
window.addEventListener('keydown', (event) => {
  const typing = document.activeElement === input;
  if ((event.key === '/' && !typing) || (event.key === 'f' && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (event.key === 'Escape') {
    if (input.value) {
      input.value = '';
      search();
    } else zoom(everything);
    input.blur();
  }
});

const sample = svg.querySelector('.f text');
if (sample && sample.textContent.length) {
  const measured = sample.getComputedTextLength() / Array.from(sample.textContent).reduce((sum, c) => sum + places(c), 0);
  if (measured > 0) charWidth = measured;
}
svg.classList.add('zoomable');
resize();
if (svg === document.documentElement) {
  if (!icicle) window.scrollTo(0, height);
  follow();
}
})();
)js";

}  // namespace fathom
