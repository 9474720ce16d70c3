// SPDX-License-Identifier: Apache-2.0
#include "report/flamegraph_parts.h"

namespace fathom {

const std::string_view kFlamegraphStyle = R"css(
svg { background: #fff; --ink: #20242c; --soft: #646b78; --paper: #fff; --line: #d5d9e0; }
@media (prefers-color-scheme: dark) {
  svg { background: #17191e; --ink: #e2e5ea; --soft: #9aa1ad; --paper: #17191e; --line: #3a3f49; }
}
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.f text { fill: #1d1f24; pointer-events: none; }
.f rect { shape-rendering: geometricPrecision; }
.f:hover rect { stroke: #20242c; stroke-width: 1; }
.zoomable .f { cursor: pointer; }
.above rect, .above text { opacity: .5; }
.searching .f:not(.match) rect { opacity: .38; }
.f.match rect { fill: #c77ad8; }
.paper { fill: var(--paper); }
.rule { stroke: var(--line); stroke-width: 1; }
.head, .fact, .note, .key { font-family: system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
.head { font-size: 16px; font-weight: 600; fill: var(--ink); }
.fact { font-size: 12.5px; fill: var(--ink); }
.note, .key { font-size: 12px; fill: var(--soft); }
.detail { fill: var(--ink); }
.key rect { stroke: none; }
.tools { font: 12px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; color: var(--soft);
  display: flex; gap: 8px; justify-content: flex-end; align-items: center; height: 28px; }
.tools input, .tools button { font: inherit; color: var(--ink); background: var(--paper);
  border: 1px solid var(--line); border-radius: 5px; padding: 3px 8px; margin: 0; }
.tools input { width: 190px; }
.tools input.bad { border-color: #c4463a; }
.tools button { cursor: pointer; }
.tools button[hidden] { display: none; }
)css";

}  // namespace fathom
