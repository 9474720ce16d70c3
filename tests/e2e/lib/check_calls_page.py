#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_calls_page.py PAGE [SECONDS ZOOMS PICTURE.png]: whether a page of a run draws calls of the CUDA driver and lets
people look closer: from afar many are one bar, near by each has its own. With a picture it shows that moment, and of the
curves only those that matter beside the calls."""
import sys

import browser

OTHERS = """for (const box of document.querySelectorAll('.panel'))
  if (!/^(CPU|gpu 0 busy|gpu 0 of process|Calls and|Processes)/.test(box.querySelector('h3').textContent)) box.remove()"""


def count(page, what):
    return page.value(f"Array.from(document.querySelectorAll('.panel')).find(box => box.textContent.startsWith('Calls and devices')).querySelectorAll('{what}').length")


def main():
    path = sys.argv[1]
    with browser.Browser(1100, 525) as page:
        page.prefer("light")
        page.open(path)
        first = page.value("(() => { const calls = JSON.parse(document.getElementById('data').textContent).calls; return Math.min(...calls.lanes.map(lane => lane.t[0])) / 1e9; })()")
        seconds, zooms = (float(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 4 else (first, 20)
        if len(sys.argv) > 4:
            page.value(OTHERS)
        folded = count(page, ".bar.thin")
        left, top, width, length = page.value("""(() => { const plots = document.getElementById('plots'), at = plots.getBoundingClientRect();
            plots.focus(); return [at.left + scrollX, plots.querySelector('.panel').getBoundingClientRect().top, at.width, JSON.parse(document.getElementById('data').textContent).length]; })()""")
        page.move(left + 70 + (width - 82) * seconds * 1e6 / length, top + 30)
        for _ in range(zooms):
            page.key("+")
        print("folded from afar", folded > 0, "near by each", count(page, ".call") > 0, "rows", page.value("JSON.parse(document.getElementById('data').textContent).calls.lanes.length"))
        if page.complaints:
            sys.exit(f"{path} complains: {page.complaints}")
        if len(sys.argv) > 4:
            page.value("scrollTo(0, document.getElementById('timeline').offsetTop)")
            page.screenshot(sys.argv[4])


if __name__ == "__main__":
    main()
