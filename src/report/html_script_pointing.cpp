// SPDX-License-Identifier: Apache-2.0
// Puts the panels together and lets people point: a crosshair through all of them, zoom, keys.
#include "report/html_parts.h"

namespace fathom {

const std::string_view kHtmlScriptPointing = R"js(
const marks = data.marks.length ? startPanel('Steps and marks', '') : null;
if (marks) marks.output = block(marks.keys, 'output');
const panels = data.panels.map(addPanel);
const calls = data.calls.lanes.length ? addCalls() : null;
const lanes = data.lanes.bars.length ? addLanes() : null;
const axis = {box: block(plots, 'div', 'axis')};
axis.svg = make(axis.box, 'svg', {'aria-hidden': 'true'});
const cross = block(plots, 'div'), choice = block(plots, 'div');
cross.id = 'cross';
choice.id = 'choice';
cross.hidden = choice.hidden = true;
const reset = document.getElementById('reset'), spoken = document.getElementById('spoken');
document.querySelector('.tools').hidden = false;
let cursor = null, pressed = null, picked = null;

function draw(width) {
  view.width = Math.max(200, Math.floor(width));
  if (marks) drawMarks(marks);
  panels.forEach(drawPanel);
  if (calls) drawCalls(calls);
  if (lanes) drawLanes(lanes);
  reset.disabled = view.from === 0 && view.to === length;
  point(cursor);
}
const drawAll = () => draw(plots.clientWidth);

// Before the first reading there is no value, after the last one the last.
function pointCurve(shown, curve, number) {
  const at = stepAt(curve.t, cursor), {unit} = shown.panel;
  if (at < 0) {
    shown.outputs[number].textContent = 'not read yet';
    shown.dots[number].setAttribute('visibility', 'hidden');
    return;
  }
  const spread = curve.lo[at] < curve.hi[at] ? ` (${figure(curve.lo[at], unit)} to ${figure(curve.hi[at], unit)})` : '';
  shown.outputs[number].textContent = figure(curve.v[at], unit) + spread;
  const x = across(Math.min(cursor, Math.max(curve.end, curve.t[at]))), within = x >= 0 && x <= room();
  shown.dots[number].setAttribute('cx', x);
  shown.dots[number].setAttribute('cy', shown.up(curve.v[at]));
  shown.dots[number].setAttribute('visibility', within ? 'visible' : 'hidden');
}

// Shows every figure of a moment; of none, the peaks of what is in view.
function point(time) {
  cursor = time === null ? null : Math.min(view.to, Math.max(view.from, time));
  for (const shown of panels) {
    shown.panel.curves.forEach((curve, number) => {
      if (cursor !== null) return pointCurve(shown, curve, number);
      const peak = shown.peaks[number];
      shown.outputs[number].textContent = peak === null ? 'none here' : 'highest ' + figure(peak, shown.panel.unit);
      shown.dots[number].setAttribute('visibility', 'hidden');
    });
  }
  if (marks) {
    const mark = cursor === null ? null : markAt(cursor);
    marks.output.textContent = mark ? `${mark[1]} · at ${duration(mark[0])}` : '';
  }
  if (calls) calls.output.textContent = cursor === null ? '' : callsAt(cursor);
  if (lanes) {
    lanes.output.textContent = picked ? barText(data.lanes.bars[picked.dataset.bar]) : cursor === null ? '' : runningAt(cursor);
    lanes.keys.hidden = lanes.output.textContent !== '';
  }
  cross.hidden = cursor === null;
  if (cursor !== null) cross.style.left = LEFT + across(cursor) + 'px';
  drawAxis(axis, cursor);
}

function pick(bar) {
  if (picked) picked.classList.remove('picked');
  picked = bar;
  if (picked) picked.classList.add('picked');
}

function zoom(from, to) {
  const least = Math.min(LEAST_VIEW, length);
  if (to - from < least) { const middle = (from + to) / 2; from = middle - least / 2; to = middle + least / 2; }
  view.from = Math.max(0, from);
  view.to = Math.min(length, to);
  pick(null);
  drawAll();
}

// By a factor, so that what is pointed at stays where it is.
function zoomBy(factor) {
  const at = cursor === null ? (view.from + view.to) / 2 : cursor;
  zoom(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

const timeAt = event => {
  const x = event.clientX - plots.getBoundingClientRect().left - LEFT;
  return view.from + Math.min(1, Math.max(0, x / room())) * (view.to - view.from);
};

plots.addEventListener('pointermove', event => {
  if (pressed === null) pick(event.target.closest('.bar'));
  point(timeAt(event));
  if (pressed === null) return;
  const from = across(Math.min(pressed, cursor)), to = across(Math.max(pressed, cursor));
  choice.hidden = to - from < 4;
  choice.style.left = LEFT + from + 'px';
  choice.style.width = to - from + 'px';
});
plots.addEventListener('pointerdown', event => {
  if (event.button !== 0 || event.pointerType === 'touch') return;
  pressed = timeAt(event);
  plots.setPointerCapture(event.pointerId);
});
plots.addEventListener('pointerup', event => {
  if (pressed === null) return;
  const from = pressed, to = timeAt(event), wanted = !choice.hidden;
  pressed = null;
  choice.hidden = true;
  if (wanted) zoom(Math.min(from, to), Math.max(from, to));
});
plots.addEventListener('pointercancel', () => { pressed = null; choice.hidden = true; });
plots.addEventListener('pointerleave', () => { if (pressed === null) { pick(null); point(null); } });
plots.addEventListener('dblclick', () => zoom(0, length));
reset.addEventListener('click', () => { zoom(0, length); plots.focus(); });

function speak() {
  const words = panels.flatMap(shown => shown.panel.curves.map(
    (curve, number) => `${shown.panel.title} ${shown.panel.app ? '' : curve.label} ${shown.outputs[number].textContent}`));
  spoken.textContent = `At ${duration(cursor)}: ${words.join(', ')}`;
}

plots.addEventListener('keydown', event => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const step = (view.to - view.from) / (event.shiftKey ? 10 : 100), from = cursor === null ? view.from : cursor;
  const move = time => { pick(null); point(time); speak(); };
  const actions = {
    ArrowLeft: () => move(from - step), ArrowRight: () => move(from + step),
    Home: () => move(view.from), End: () => move(view.to),
    '+': () => zoomBy(.5), '=': () => zoomBy(.5), '-': () => zoomBy(2),
    Escape: () => { cursor = null; zoom(0, length); }, '0': () => zoom(0, length),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});

// On paper each panel brings the axis along: the one at the bottom may stand on another page.
function addAxes() {
  for (const panel of plots.querySelectorAll('.panel'))
    if (panel.nextElementSibling !== axis.box) panel.append(axis.box.cloneNode(true));
}
addEventListener('beforeprint', () => { pick(null); cursor = null; draw(680); addAxes(); });
addEventListener('afterprint', () => {
  plots.querySelectorAll('.panel > .axis').forEach(copy => copy.remove());
  drawAll();
});
new ResizeObserver(() => { if (Math.floor(plots.clientWidth) !== view.width) drawAll(); }).observe(plots);
drawAll();
)js";

}  // namespace fathom
