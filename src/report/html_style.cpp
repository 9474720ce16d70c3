// SPDX-License-Identifier: Apache-2.0
// Curves are told apart by dashes as well as by colours, which are those of Okabe and Ito; bars
// of processes carry names. Both sets hold for the usual kinds of colour blindness.
#include "report/html_parts.h"

namespace fathom {

const std::string_view kHtmlStyle = R"css(
:root { --ink: #1c2027; --soft: #5c6470; --paper: #fff; --card: #f6f7f9; --line: #d9dde3; --grid: #e8ebef;
  --good: #0b6e4f; --bad: #b3261e; --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --mark: #8a4fa3; --pick: #0072b2; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ec; --soft: #9ca4b0; --paper: #14161a; --card: #1c1f25; --line: #363c46; --grid: #262b33;
    --good: #5fd0a4; --bad: #ff8a80; --c0: #56b4e9; --c1: #e69f00; --c2: #2fc79a; --mark: #cf9be6; --pick: #56b4e9; }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 14px/1.45 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 20px 24px 40px; }
h1 { font: 600 19px/1.35 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 0 0 8px; }
section { margin-top: 32px; }
.facts { margin: 4px 0 14px; font-weight: 600; }
.facts.good { color: var(--good); }
.facts.bad { color: var(--bad); }
dl { margin: 0; }
dt { color: var(--soft); font-size: 12px; }
dd { margin: 0; overflow-wrap: anywhere; }
.totals { columns: 265px; column-gap: 8px; }
.totals > div { background: var(--card); border: 1px solid var(--line); border-radius: 7px; padding: 7px 11px;
  margin-bottom: 8px; break-inside: avoid; }
.totals dd > span { display: block; }
.faint, .note { color: var(--soft); }
.warning { color: var(--bad); }
.note { margin: 6px 0 0; font-size: 13px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); margin: 0; }

.tools { display: flex; gap: 12px; align-items: center; justify-content: space-between; margin-bottom: 6px; }
.tools[hidden] { display: none; }
.tools p { margin: 0; color: var(--soft); font-size: 13px; }
button { font: inherit; font-size: 13px; color: var(--ink); background: var(--card); border: 1px solid var(--line);
  border-radius: 6px; padding: 3px 11px; cursor: pointer; white-space: nowrap; }
button:disabled { opacity: .45; cursor: default; }
:focus-visible { outline: 2px solid var(--pick); outline-offset: 2px; }

#plots { position: relative; cursor: crosshair; touch-action: pan-y; user-select: none; -webkit-user-select: none; }
.panel { margin-bottom: 7px; }
.panel > header { display: flex; flex-wrap: wrap; gap: 0 16px; font-size: 12.5px; align-items: baseline; }
.panel h3 { font-size: inherit; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
.panel .unit { color: var(--soft); font-weight: 400; }
.keys { display: flex; flex-wrap: wrap; gap: 0 14px; margin-left: auto; color: var(--soft);
  font-variant-numeric: tabular-nums; }
.keys > span { min-width: 0; overflow-wrap: anywhere; }
.keys[hidden] { display: none; }
.keys svg { width: 22px; height: 10px; margin-right: 5px; vertical-align: 0; }
.keys output { color: var(--ink); }
.panel > svg, .axis svg { display: block; overflow: hidden; }
svg text { font: 11px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; fill: var(--soft);
  font-variant-numeric: tabular-nums; }
.grid { stroke: var(--grid); stroke-width: 1; shape-rendering: crispEdges; }
.base { stroke: var(--line); stroke-width: 1; shape-rendering: crispEdges; }
.limit { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 4; shape-rendering: crispEdges; }
.curve { fill: none; stroke-width: 1.5; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.band, .area { stroke: none; fill-opacity: .14; }
.band { fill-opacity: .3; }
.k0 { stroke: var(--c0); } .f0 { fill: var(--c0); }
.k1 { stroke: var(--c1); stroke-dasharray: 6 2.5; } .f1 { fill: var(--c1); }
.k2 { stroke: var(--c2); stroke-dasharray: 1.5 2.5; } .f2 { fill: var(--c2); }
.dot { stroke: var(--paper); stroke-width: 1.5; }
.mark { stroke: var(--mark); stroke-width: 1; stroke-dasharray: 3 3; }
.flag { fill: var(--mark); }
svg text.marktext { fill: var(--ink); }
.bar { stroke: var(--paper); stroke-width: .75; }
.bar.thin { stroke: none; }
.call { stroke: var(--paper); stroke-width: .5; }
.bar.open { stroke-dasharray: 3 2; stroke: #1c2027; }
.bar.picked { stroke: var(--ink); stroke-width: 1.5; }
svg text.bartext { fill: #15181d; pointer-events: none; }
.p0 { fill: #77aadd; } .p1 { fill: #ee8866; } .p2 { fill: #eedd88; } .p3 { fill: #44bb99; } .p4 { fill: #ffaabb; }
.p5 { fill: #99ddff; } .p6 { fill: #bbcc33; } .p7 { fill: #c3c8d0; }
.chip { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 5px; vertical-align: -1px; }
.chip rect { width: 100%; height: 100%; }
.folded { fill: var(--soft); }
.axis { position: sticky; bottom: 0; background: var(--paper); border-top: 1px solid var(--line); z-index: 2; }
#cross, #choice { position: absolute; top: 0; bottom: 0; pointer-events: none; z-index: 3; }
#cross { width: 0; border-left: 1px solid var(--ink); opacity: .55; }
#choice { background: var(--pick); opacity: .18; }
#cross[hidden], #choice[hidden] { display: none; }
svg .now { fill: var(--ink); }
svg text.nowtext { fill: var(--paper); font-weight: 600; }

details { margin-top: 10px; }
summary { cursor: pointer; color: var(--soft); font-size: 13px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; min-width: 50%; }
th, td { padding: 3px 14px 3px 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--grid); }
th { color: var(--soft); font-weight: 500; font-size: 12px; vertical-align: bottom; }
.number { text-align: right; white-space: nowrap; }
th.number { white-space: normal; }
td.name { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 12px;
  min-width: 150px; max-width: 420px; overflow-wrap: anywhere; }
td.name:last-child { min-width: 230px; }
tbody tr:hover { background: var(--card); }
footer { margin-top: 36px; border-top: 1px solid var(--line); padding-top: 12px; }
footer dl { display: flex; flex-wrap: wrap; gap: 6px 26px; font-size: 13px; }

@media (max-width: 600px) { main { padding: 14px 12px 30px; } .keys { margin-left: 0; } .tools p { font-size: 12px; } }
@media print {
  html { color-scheme: light; }
  @page { margin: 14mm; }
  body { font-size: 11px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  .tools, #cross, #choice { display: none; }
  .axis { position: static; }
  .panel > .axis { border: 0; }
  .panel, tr, .totals > div { break-inside: avoid; }
  h2, .panel:has(+ .axis) { break-after: avoid; }
  .note { break-before: avoid; }
  details:not([open]) { display: none; }
  .scroll { overflow: visible; }
  table { font-size: 9.5px; } th { font-size: 9px; } td.name { font-size: 8.5px; max-width: none; min-width: 40px; }
  td.name:last-child { min-width: 60px; }
  th, td { padding-right: 8px; }
  section { margin-top: 18px; }
}
)css";

}  // namespace fathom
