// SPDX-License-Identifier: Apache-2.0
// The data, as timeline_json.cpp writes it, and the figures of axes. Times are µs since the start.
#include "report/html_parts.h"

namespace fathom {

const std::string_view kHtmlScriptScales = R"js(
// {length, marks: [[time, text]], panels: [{title, unit, app, limit, limitLabel, curves: [{label, t, end, v, lo, hi}]}],
//  calls: {names, lanes: [{title, t, d, n}]}, t and d in ns,
//  lanes: {rows, programs, bars: [[row, from, to, ended, colour, pid, cpu, name]], folded, alive}}
// t: where steps begin, each what is added to the one before; end: of the last step.
// lo and hi, where a step stands for many: their least and most.
const plots = document.getElementById('plots');
if (!plots) return;
const data = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';
const LEFT = 70, RIGHT = 12, LEAST_VIEW = 200;
const length = Math.max(data.length, 1);
const view = {from: 0, to: length, width: 0};

for (const panel of data.panels) {
  for (const curve of panel.curves) {
    let time = 0;
    curve.t = curve.t.map(step => time += step);
    curve.lo = curve.lo || curve.v;
    curve.hi = curve.hi || curve.v;
  }
}

function make(parent, tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function block(parent, tag, style, text) {
  const element = document.createElement(tag);
  if (style) element.className = style;
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

// Units.

const commas = value => Math.round(value).toLocaleString('en-US');
const short = value => String(Number(value.toPrecision(value >= 100 ? 3 : 2)));

function number(value) {
  return Math.abs(value) >= 1e4 && Math.abs(value) < 1e15 ? commas(value) : String(Number(value.toPrecision(4)));
}

function bytes(value) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let size = Math.abs(value), unit = 0;
  for (; size >= 999.5 && unit < units.length - 1; ++unit) size /= 1000;
  return (value < 0 ? '−' : '') + String(Number(size.toPrecision(3))) + ' ' + units[unit];
}

function figure(value, unit) {
  if (value === 0) return '0';
  if (unit === 'bytes') return bytes(value);
  if (unit === 'bytes/s') return bytes(value) + '/s';
  if (unit === 'cores') return value.toFixed(2);
  if (unit === '%') return value.toFixed(value < 9.95 ? 1 : 0) + ' %';
  if (unit === 'ns') return duration(value / 1000);
  return number(value) + (unit && unit !== 'count' ? ' ' + unit : '');
}

function duration(time) {
  if (time < 1000) return short(time) + ' µs';
  if (time < 1e6) return short(time / 1000) + ' ms';
  if (time < 120e6) return (time / 1e6).toFixed(time < 10e6 ? 2 : 1) + ' s';
  return clock(time, 1e6);
}

// A moment, as finely as ticks of such a step need it.
function clock(time, step) {
  const digits = Math.max(0, Math.min(6, Math.ceil(6 - Math.log10(step) - 1e-9)));
  if (length < 1e6) return (time / 1000).toFixed(Math.max(0, digits - 3)) + ' ms';
  if (length < 120e6) return (time / 1e6).toFixed(digits) + ' s';
  const seconds = Math.floor(time / 1e6 + 1e-9), two = count => String(count).padStart(2, '0');
  const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
  const fraction = digits > 0 ? (time / 1e6 - seconds).toFixed(digits).slice(1) : '';
  return (hours > 0 ? hours + ':' + two(minutes) : minutes) + ':' + two(seconds % 60) + fraction;
}

// Axes.

function roundUp(value, steps = [1, 2, 2.5, 5]) {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of steps) if (value <= step * power * (1 + 1e-9)) return step * power;
  return 10 * power;
}

function timeStep(room) {
  const least = (view.to - view.from) / Math.max(2, Math.floor(room / 95));
  if (least <= 5e6) return roundUp(least, [1, 2, 5]);
  for (const seconds of [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200])
    if (least <= seconds * 1e6) return seconds * 1e6;
  return Math.ceil(least / 86400e6) * 86400e6;
}

// Least and most of what is in view, and where lines are drawn.
function valueScale(panel) {
  let least = Infinity, most = -Infinity;
  for (const curve of panel.curves) {
    const [first, end] = inView(curve);
    for (let i = first; i < end; ++i) {
      least = Math.min(least, curve.lo[i]);
      most = Math.max(most, curve.hi[i]);
    }
  }
  if (least > most) least = most = 0;
  if (panel.limit !== undefined && most > panel.limit / 2) most = Math.max(most, panel.limit);
  const peak = most;
  // What the application tells may move far from 0; what it uses starts there.
  if (!panel.app || most === least || least < (most - least) * 2) least = Math.min(0, least);
  if (most <= least) most = least + (Math.abs(least) || 1);
  let step = roundUp((most - least) / 3);
  if (panel.unit === 'count' && !panel.app) step = Math.max(1, Math.ceil(step));
  return {from: Math.floor(least / step + 1e-9) * step, to: Math.ceil(most / step - 1e-9) * step, step, peak};
}
)js";

}  // namespace fathom
