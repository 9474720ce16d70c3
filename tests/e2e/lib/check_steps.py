#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_steps.py FILE.html RUN: curves of a page against the readings of the recording.

Computes from the table gauges, independently of the program, what each curve must show: the first step begins at the first
reading, rates lie between two readings, and the mean in the table is the total over the time. Draws are checked in a
browser: each path has horizontal and vertical parts alone."""
import csv
import io
import os
import re
import subprocess
import sys

import browser

CURVES = """Array.from(document.querySelectorAll('#curves tbody tr'), row => Array.from(row.cells, cell => cell.textContent))"""
PATHS = "Array.from(document.querySelectorAll('path.curve'), path => path.getAttribute('d'))"
DATA = "JSON.parse(document.getElementById('data').textContent).panels"
UNITS = {"B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}


def readings(run, scope, name):
    out = subprocess.run([os.environ["FATHOM"], "query", run, "--csv",
                          f"select g.time_ns - r.start_ns as at, g.value from gauges g join runs r using (run) "
                          f"where scope = '{scope}' and name = '{name}' order by 1"], capture_output=True, text=True, check=True)
    return [(int(row["at"]), float(row["value"])) for row in csv.DictReader(io.StringIO(out.stdout))]


def expect(truth, what):
    if not truth:
        sys.exit(f"not so: {what}")


def main():
    path, run = sys.argv[1:]
    with browser.Browser() as page:
        page.open(path)
        expect(not page.complaints, page.complaints)
        panels = {panel["title"]: panel for panel in page.value(DATA)}
        rows = {row[0]: row[1:] for row in page.value(CURVES)}
        paths = page.value(PATHS)
    expect(paths, "there are curves")
    for drawn in paths:
        points = [tuple(map(float, point.split())) for point in re.split("[ML]", drawn)[1:]]
        for (x0, y0), (x1, y1) in zip(points, points[1:]):
            expect(x0 == x1 or y0 == y1, f"a slanted line from {x0} {y0} to {x1} {y1}")
    written = readings(run, "tree", "written_chars_total")
    expect(len(written) > 3, "there are readings")
    curve = next(curve for curve in panels["Read and write calls"]["curves"] if curve["label"] == "written")
    expect(abs(curve["t"][0] - max(written[0][0], 0) / 1000) < 2, f"begins at {curve['t'][0]} us, read at {written[0][0]} ns")
    mean = (written[-1][1] - written[0][1]) / ((written[-1][0] - written[0][0]) / 1e9)
    shown, unit = rows["Read and write calls: written"][0].split()
    value = float(shown) * UNITS[unit]
    expect(abs(value - mean) <= 0.06 * mean, f"mean {value}, by its readings {mean}")
    rss = readings(run, "tree", "rss")
    memory = panels["Memory"]["curves"][0]
    expect(abs(memory["t"][0] - max(rss[0][0], 0) / 1000) < 2, "memory begins at its first reading")
    expect(abs(max(memory.get("hi", memory["v"])) - max(value for _, value in rss)) <= 1e-4 * max(value for _, value in rss),
           "the highest reading is in the curve")
    print("steps")


if __name__ == "__main__":
    main()
