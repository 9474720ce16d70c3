// SPDX-License-Identifier: Apache-2.0
// The last part of the script: the heat map, a column a second and a row 20 ms, from which a range
// is cut; and the start of it all.
#include "report/flame_page_parts.h"

namespace fathom {

const std::string_view kFlamePageScriptHeat = R"js(
const heat = byId('heatmap'), heatPen = heat.getContext('2d'), rangeText = byId('range');
const SECOND = 1e9, AXIS = 14, CELL_HEIGHT = D.mode === 'heat' ? 5 : 2;
const heatRows = D.cell_ns ? Math.max(1, Math.round(SECOND / D.cell_ns)) : 1;
let cells = null, cellWidth = 8, perColumn = heatRows, anchor = -1, cursor = 0;

function countCells() {
  const pass = passing(), last = Math.max(D.cells, 1);
  cells = new Float64Array(last);
  for (let i = 0; i < parts.n; ++i) if (pass[parts.group[i]]) cells[Math.min(parts.cell[i], last - 1)] += parts.samples[i];
}
function drawHeat() {
  if (!parts.cell || DIFF || (D.mode !== 'heat' && D.cells <= 2 * heatRows)) return;
  byId('heat').hidden = false;
  countCells();
  const room = byId('heat').clientWidth - 28, ratio = devicePixelRatio || 1;
  perColumn = heatRows;
  while (Math.ceil(D.cells / perColumn) * 3 > room) perColumn += heatRows;
  const many = Math.ceil(D.cells / perColumn), step = perColumn / heatRows;
  cellWidth = Math.max(3, Math.min(D.mode === 'heat' ? 40 : 12, Math.floor(room / many)));
  heat.width = many * cellWidth * ratio;
  heat.height = (heatRows * CELL_HEIGHT + AXIS) * ratio;
  heat.style.width = many * cellWidth + 'px';
  heat.style.height = heatRows * CELL_HEIGHT + AXIS + 'px';
  heatPen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const slots = new Float64Array(many * heatRows);
  for (let c = 0; c < cells.length; ++c) slots[Math.floor(c / step)] += cells[c];
  const most = slots.reduce((a, b) => Math.max(a, b), 1), from = Math.floor(state.from / step), to = state.to / step;
  for (let s = 0; s < slots.length; ++s) {
    const x = Math.floor(s / heatRows) * cellWidth, y = (heatRows - 1 - s % heatRows) * CELL_HEIGHT, hot = slots[s] / most;
    heatPen.globalAlpha = s >= from && s < to ? 1 : 0.3;
    heatPen.fillStyle = hot ? mix(ink.paper, hot < 0.5 ? ink.warm : ink.hot, hot < 0.5 ? 0.25 + 1.5 * hot : 0.4 + 0.6 * hot) : ink.line;
    if (!hot) heatPen.globalAlpha *= 0.35;
    heatPen.fillRect(x, y, cellWidth - 1, CELL_HEIGHT - (CELL_HEIGHT > 3 ? 1 : 0));
  }
  heatPen.globalAlpha = 1;
  drawAxis(many, perColumn * D.cell_ns / SECOND);
  if (document.activeElement === heat) {
    heatPen.strokeStyle = ink.ink;
    const s = Math.floor(cursor / step);
    heatPen.strokeRect(Math.floor(s / heatRows) * cellWidth, (heatRows - 1 - s % heatRows) * CELL_HEIGHT, cellWidth - 1, CELL_HEIGHT);
  }
  sayRange();
}
function drawAxis(many, columnSeconds) {
  heatPen.font = '10px system-ui, "Segoe UI", Arial, sans-serif';
  heatPen.fillStyle = ink.soft;
  const every = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600].find((step) => step / columnSeconds * cellWidth >= 40) || 7200;
  for (let second = 0; second < many * columnSeconds; second += every)
    heatPen.fillText(second + ' s', second / columnSeconds * cellWidth, heatRows * CELL_HEIGHT + 11);
}
const seconds = (cell) => (cell * D.cell_ns / SECOND).toFixed(2).replace(/\.?0+$/, '') + 's';
function sayRange() {
  const all = state.from === 0 && state.to === Infinity;
  byId('whole').hidden = all;
  rangeText.textContent = all ? 'Drag over the cells to cut out a range; each is ' + perColumn / heatRows * D.cell_ns / 1e6 + ' ms' :
      '--from ' + seconds(state.from) + ' --to ' + seconds(state.to) + '   · ' + grouped(counts[0] + counts[1]) + ' samples';
}
function cellAt(event) {
  const box = heat.getBoundingClientRect(), step = perColumn / heatRows;
  const column = Math.floor((event.clientX - box.left) / cellWidth), row = heatRows - 1 - Math.floor((event.clientY - box.top) / CELL_HEIGHT);
  return Math.max(0, Math.min(D.cells - 1, (column * heatRows + Math.max(0, Math.min(heatRows - 1, row))) * step));
}
function cutOut(a, b) {
  state.from = Math.min(a, b);
  state.to = Math.max(a, b) + perColumn / heatRows;
  refresh(true);
}
heat.addEventListener('pointerdown', (event) => {
  anchor = cellAt(event);
  heat.setPointerCapture(event.pointerId);
});
heat.addEventListener('pointermove', (event) => {
  if (anchor >= 0) cutOut(anchor, cellAt(event));
});
heat.addEventListener('pointerup', (event) => {
  if (anchor >= 0) cutOut(anchor, cellAt(event));
  anchor = -1;
});
// Arrow keys move a cell; with Shift they extend the range from where it began.
let began = 0;
heat.addEventListener('keydown', (event) => {
  const step = {ArrowUp: 1, ArrowDown: -1, ArrowRight: heatRows, ArrowLeft: -heatRows}[event.key];
  if (step === undefined) return;
  event.preventDefault();
  cursor = Math.max(0, Math.min(D.cells - 1, cursor + step * perColumn / heatRows));
  if (!event.shiftKey) began = cursor;
  cutOut(began, cursor);
});
byId('whole').addEventListener('click', () => {
  state.from = 0;
  state.to = Infinity;
  refresh(true);
});

// ---- Start ----

for (const [sort, title] of columns) {
  const head = element('th', {scope: 'col', className: sort === 'name' ? 'name' : ''}, byId('heads'));
  if (!sort) head.textContent = title;
  else {
    head.dataset.sort = sort;
    element('button', {type: 'button', textContent: title}, head).addEventListener('click', () => {
      state.sort = sort;
      fillTable();
    });
  }
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  readInk();
  mixed.clear();
  draw();
  drawHeat();
});
readInk();
pen.font = '12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
charWidth = pen.measureText('mmmmmmmmmm').width / 10 || 7.2;
if (innerWidth < 800) byId('beside').click();
refresh(false);
draw();
document.body.classList.add('ready');
// When it can be seen: after the frame that shows it.
requestAnimationFrame(() => setTimeout(() => performance.mark('drawn')));
)js";

}  // namespace fathom
