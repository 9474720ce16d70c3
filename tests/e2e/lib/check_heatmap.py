#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_heatmap.py FILE.html FATHOM RUN [PICTURE.png]: cuts a range out of the heat map as a person does.

The page says which flags cut the same: a report with them must have as many samples as the page shows."""
import re
import subprocess
import sys

import browser


def expect(truth, what):
    if not truth:
        sys.exit(f"not so: {what}")


def samples(fathom, run, *flags):
    text = subprocess.run([fathom, "report", run, "--as", "top", *flags], check=True, stdout=subprocess.PIPE).stdout.decode()
    return int(re.search(r"([\d,]+) samples? of", text)[1].replace(",", ""))


def shown(page):
    return int(re.match(r"[\d,]+", page.value("document.getElementById('sum').textContent"))[0].replace(",", ""))


def main():
    path, fathom, run, *picture = sys.argv[1:]
    with browser.Browser() as page:
        page.open(path)
        expect(page.value("document.body.className") == "ready", f"the script ran: {page.complaints}")
        whole = shown(page)
        expect(whole == samples(fathom, run), "all samples are there")
        box = page.value("(() => { const b = document.getElementById('heatmap').getBoundingClientRect();"
                         " return {x: b.x, y: b.y, width: b.width, height: b.height}; })()")
        expect(box["width"] > 5 and box["height"] > 50, f"it is drawn: {box}")
        page.drag(box["x"] + 4, box["y"] + 220, box["x"] + 20, box["y"] + 120)
        words = page.value("document.getElementById('range').textContent")
        flags = re.match(r"(--from \S+ --to \S+) ", words)
        expect(flags, f"the range is told as flags: {words}")
        part = shown(page)
        expect(0 < part < whole, f"{part} of {whole} are of the range")
        told = samples(fathom, run, *flags[1].split())
        expect(told == part, f"{flags[1]} gives {told}, the page {part}")
        if picture:
            page.screenshot(picture[0])
        page.value("document.getElementById('heatmap').focus()")
        page.key("ArrowRight")
        expect(page.value("document.getElementById('range').textContent").startswith("--from"), "keys choose a cell")
        page.value("document.getElementById('whole').click()")
        expect(shown(page) == whole, "and back")
        expect(not page.complaints, f"nothing complains: {page.complaints}")
    print("used")


if __name__ == "__main__":
    main()
