// SPDX-License-Identifier: Apache-2.0
// Red and blue, which the usual kinds of colour blindness tell apart; what appeared or vanished has
// a sign before its name as well.
#include "report/flame_page_parts.h"

namespace fathom {

const std::string_view kFlamePageStyle = R"css(
:root { --ink: #1c2027; --soft: #5c6470; --paper: #ffffff; --card: #f6f7f9; --line: #d9dde3; --pick: #0072b2;
  --same: #d9dce1; --more: #e8503a; --less: #4a86dd; --match: #c77ad8; --warm: #f2a541; --hot: #c4341c; --bad: #b3261e; --up: #b3261e; --down: #1a56b0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ec; --soft: #9ca4b0; --paper: #14161a; --card: #1c1f25; --line: #363c46; --pick: #56b4e9;
    --same: #9aa0aa; --more: #f0664f; --less: #5f9bf0; --match: #cf8fe0; --warm: #a86a1c; --hot: #ff7a4d; --bad: #ff8a80; --up: #ff8a75; --down: #8ab8ff; }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; height: 100%; }
body { margin: 0; height: 100%; min-height: 420px; display: flex; flex-direction: column; background: var(--paper);
  color: var(--ink); font: 13px/1.4 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
[hidden] { display: none !important; }
header { padding: 10px 14px 0; }
h1 { font: 600 16px/1.3 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; margin: 0;
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
header p { margin: 2px 0 0; }
.notes { color: var(--soft); }
.key { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin: 0 4px 0 12px; vertical-align: -1px; }
.keys { color: var(--soft); } .keys .sign { margin: 0 4px 0 12px; font-weight: 700; color: var(--ink); }
.key.more { background: var(--more); } .key.less { background: var(--less); } .key.same { background: var(--same); }
.tools { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; padding: 8px 14px; }
.tools label { color: var(--soft); }
button, input, select { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line);
  border-radius: 6px; padding: 3px 9px; margin: 0; }
select { max-width: 190px; }
button { cursor: pointer; }
button[aria-pressed=true] { border-color: var(--pick); box-shadow: inset 0 0 0 1px var(--pick); }
input { width: 200px; }
input.bad { border-color: var(--bad); }
#found { min-width: 120px; color: var(--soft); font-variant-numeric: tabular-nums; }
#sum { margin-left: auto; color: var(--soft); font-variant-numeric: tabular-nums; }
:focus-visible { outline: 2px solid var(--pick); outline-offset: 1px; }
#heat { padding: 0 14px 6px; flex: none; overflow-x: auto; }
#heat p { margin: 2px 0 0; color: var(--soft); font-variant-numeric: tabular-nums; }
#heatmap { display: block; cursor: crosshair; touch-action: none; }
#range { user-select: all; -webkit-user-select: all; }
main { flex: 1; min-height: 0; display: flex; border-top: 1px solid var(--line); }
#graph { flex: 1; min-width: 0; overflow-x: hidden; overflow-y: auto; position: relative; }
#flame { position: sticky; top: 0; left: 0; display: block; }
#flame.on { cursor: pointer; }
#flame:focus-visible { outline-offset: -2px; }
#table { width: 40%; max-width: 620px; min-width: 300px; overflow: auto; border-left: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; background: var(--paper); text-align: right; padding: 4px 8px; color: var(--soft);
  font-weight: 500; box-shadow: inset 0 -1px var(--line); white-space: nowrap; }
th button { border: 0; padding: 0; background: none; color: inherit; }
th[aria-sort=descending] button { color: var(--ink); font-weight: 600; text-decoration: underline; }
th.name, td.name { text-align: left; }
td { padding: 2px 8px; text-align: right; white-space: nowrap; }
td.name { font: 12px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; width: 100%; max-width: 0;
  overflow: hidden; text-overflow: ellipsis; }
td.soft, td.noise { color: var(--soft); }
td.more { color: var(--up); font-weight: 600; } td.less { color: var(--down); font-weight: 600; }
tbody tr { cursor: pointer; }
tbody tr:hover { background: var(--card); }
#more { margin: 6px 8px; color: var(--soft); }
#detail { margin: 0; padding: 4px 14px; min-height: 26px; border-top: 1px solid var(--line); overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; font: 12px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
#tip { position: fixed; z-index: 5; max-width: 460px; padding: 6px 10px; background: var(--card); border: 1px solid var(--line);
  border-radius: 6px; box-shadow: 0 3px 12px #0003; pointer-events: none; overflow-wrap: anywhere; }
#tip div:first-child { font-weight: 600; }
@media (max-width: 800px) { #table { width: 100%; max-width: none; border-left: 0; } main { flex-direction: column; }
  #table { height: 40%; } }
@media print { body { display: block; height: auto; min-height: 0; } main { display: block; }
  .tools, #tip { display: none; } h1 { white-space: normal; overflow-wrap: anywhere; }
  #graph, #heat { overflow: visible; } #heatmap { max-width: 100%; }
  #flame { position: static; width: 100% !important; height: auto !important; }
  #table { width: 100%; max-width: none; min-width: 0; height: auto; overflow: visible; border-left: 0; } }
)css";

}  // namespace fathom
