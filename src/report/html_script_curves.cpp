// SPDX-License-Identifier: Apache-2.0
// Panels of curves below each other, and the time axis that they share.
#include "report/html_parts.h"

namespace fathom {

const std::string_view kHtmlScriptCurves = R"js(
const HEIGHT = 80, TOP = 5, AXIS = 26;
const room = () => Math.max(60, view.width - LEFT - RIGHT);
const across = time => (time - view.from) / (view.to - view.from) * room();

// What every panel has: a line of words, and a drawing whose plot is cut at its edges.
function startPanel(title, unit) {
  const box = block(plots, 'div', 'panel'), head = block(box, 'header');
  const name = block(head, 'h3', '', title);
  if (unit) block(name, 'span', 'unit', ', ' + unit);
  const keys = block(head, 'span', 'keys');
  return {box, keys, svg: make(box, 'svg', {'aria-hidden': 'true'})};
}

function clear(svg, height) {
  svg.replaceChildren();
  svg.setAttribute('width', view.width);
  svg.setAttribute('height', height);
  const plot = make(svg, 'svg', {x: LEFT, y: 0, width: room(), height});
  const step = timeStep(room());
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step)
    make(plot, 'line', {class: 'grid', x1: across(time), x2: across(time), y1: 0, y2: height});
  for (const [time] of data.marks)
    if (time >= view.from && time <= view.to)
      make(plot, 'line', {class: 'mark', x1: across(time), x2: across(time), y1: 0, y2: height});
  return plot;
}

// The last step that begins at or before the time; -1: none.
function stepAt(times, time) {
  let low = -1, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time) low = middle; else high = middle - 1;
  }
  return low;
}
// The first and the one behind the last step in view.
function inView(curve) {
  if (curve.end < view.from) return [0, 0];
  return [Math.max(0, stepAt(curve.t, view.from)), stepAt(curve.t, view.to) + 1];
}

function drawCurve(plot, curve, number, up, filled) {
  const [first, end] = inView(curve);
  if (end <= first) return;
  const stop = i => (i + 1 < curve.t.length ? curve.t[i + 1] : curve.end);
  const points = values => {
    const list = [];
    for (let i = first; i < end; ++i)
      for (const time of [curve.t[i], stop(i)]) list.push(across(time).toFixed(1) + ' ' + up(values[i]).toFixed(1));
    return list;
  };
  const line = points(curve.v);
  if (curve.hi !== curve.v)
    make(plot, 'path', {class: 'band f' + number, d: 'M' + points(curve.hi).concat(points(curve.lo).reverse()).join('L') + 'Z'});
  if (filled)
    make(plot, 'path', {class: 'area f' + number, d: 'M' + across(curve.t[first]).toFixed(1) + ' ' + up(0) + 'L' + line.join('L') +
                        'L' + across(stop(end - 1)).toFixed(1) + ' ' + up(0) + 'Z'});
  if (stop(end - 1) > curve.t[first]) make(plot, 'path', {class: 'curve k' + number, d: 'M' + line.join('L')});
  else make(plot, 'circle', {class: 'f' + number, r: 2.5, cx: across(curve.t[first]), cy: up(curve.v[first])});
}

function drawScale(shown, plot, scale, up, unit) {
  for (let value = scale.from; value <= scale.to + scale.step / 2; value += scale.step) {
    const y = Math.round(up(value)) + .5;
    make(plot, 'line', {class: value === scale.from ? 'base' : 'grid', x1: 0, x2: room(), y1: y, y2: y});
    make(shown.svg, 'text', {x: LEFT - 7, y: y + 3.5, 'text-anchor': 'end'}, figure(value, unit));
  }
}

function drawPanel(shown) {
  const {panel} = shown, scale = valueScale(panel), plot = clear(shown.svg, HEIGHT);
  const up = value => HEIGHT - 6 - (value - scale.from) / (scale.to - scale.from) * (HEIGHT - 6 - TOP - 3);
  drawScale(shown, plot, scale, up, panel.app && !/^(bytes|bytes\/s|%|ns)$/.test(panel.unit) ? '' : panel.unit);
  if (panel.limit !== undefined && panel.limit <= scale.to && panel.limit >= scale.from) {
    const y = Math.round(up(panel.limit)) + .5;
    make(plot, 'line', {class: 'limit', x1: 0, x2: room(), y1: y, y2: y});
  }
  panel.curves.forEach((curve, number) =>
    drawCurve(plot, curve, number, up, number === 0 && scale.from <= 0));
  shown.up = up;
  shown.dots = panel.curves.map((_, number) => make(plot, 'circle', {class: 'dot f' + number, r: 3.5, visibility: 'hidden'}));
  panel.curves.forEach((curve, number) => { shown.peaks[number] = peakOf(curve); });
}

function peakOf(curve) {
  const [first, end] = inView(curve);
  return end > first ? Math.max(...curve.hi.slice(first, end)) : null;
}

function addPanel(panel) {
  const unit = panel.unit === 'count' || panel.unit === '' ? '' : panel.unit;
  const shown = {...startPanel(panel.title, unit), panel, peaks: [], outputs: []};
  panel.curves.forEach((curve, number) => {
    const key = block(shown.keys, 'span');
    const sample = make(key, 'svg', {'aria-hidden': 'true'});
    make(sample, 'line', {class: 'curve k' + number, x1: 0, x2: 22, y1: 6, y2: 6});
    if (panel.curves.length > 1 || !panel.app) key.append(curve.label + ' ');
    shown.outputs.push(block(key, 'output'));
  });
  if (panel.limit !== undefined) {
    const key = block(shown.keys, 'span');
    make(make(key, 'svg', {'aria-hidden': 'true'}), 'line', {class: 'limit', x1: 0, x2: 22, y1: 6, y2: 6});
    key.append(panel.limitLabel);
  }
  return shown;
}

// The axis at the bottom, and on it the moment that is pointed at.
function drawAxis(axis, cursor) {
  const step = timeStep(room()), svg = axis.svg;
  svg.replaceChildren();
  svg.setAttribute('width', view.width);
  svg.setAttribute('height', AXIS);
  for (let time = Math.ceil(view.from / step) * step; time <= view.to * (1 + 1e-12); time += step) {
    const x = LEFT + across(time);
    make(svg, 'line', {class: 'base', x1: x, x2: x, y1: 0, y2: 5});
    const end = x > view.width - 26;
    make(svg, 'text', {x: end ? view.width - 2 : x, y: 18, 'text-anchor': end ? 'end' : 'middle'}, clock(time, step));
  }
  if (cursor === null) return;
  const text = clock(cursor, Math.max(step / 100, 1)), wide = text.length * 6.4 + 12;
  const x = Math.min(Math.max(LEFT + across(cursor), wide / 2), view.width - wide / 2);
  make(svg, 'rect', {class: 'now', x: x - wide / 2, y: 4, width: wide, height: 19, rx: 4});
  make(svg, 'text', {class: 'nowtext', x, y: 18, 'text-anchor': 'middle'}, text);
}
)js";

}  // namespace fathom
