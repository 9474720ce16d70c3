#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_print.py FILE.html [OUT.pdf]: prints the page of a run on A4 and reads what is on the paper.

It takes several pages; every chart stands on one of them together with its axis; every row of every table and the
footer are there, and no word goes beyond the margin."""
import pathlib
import re
import subprocess
import sys
import tempfile

import browser

MARGIN_PT = 14 / 25.4 * 72  # the page's own, in html_style.cpp
TITLES = "Array.from(document.querySelectorAll('.panel h3'), title => title.firstChild.textContent.trim())"
ROWS = """Array.from(document.querySelectorAll('tbody tr')).filter(row => !row.closest('details:not([open])'))
  .map(row => row.textContent)"""
FOOTER = "Array.from(document.querySelectorAll('footer dd'), value => value.textContent)"
BELOW = "document.getElementById('plots').closest('section').nextElementSibling.querySelector('h2').textContent"
PRINTED_TICKS = """(() => { dispatchEvent(new Event('beforeprint'));
  const axis = Array.from(document.querySelectorAll('.axis')).at(-1);
  const ticks = Array.from(axis.querySelectorAll('text'), text => text.textContent);
  dispatchEvent(new Event('afterprint'));
  return ticks; })()"""


def expect(truth, what):
    if not truth:
        sys.exit(f"not so: {what}")


def read(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def squeezed(text):
    return "".join(text.split())


def charts(text, titles, ticks, below):
    """As many axes as charts on each page, up to the table below them."""
    pages = re.split(rf"^\f? *{re.escape(below)}$", text, maxsplit=1, flags=re.M)[0].split("\f")
    axis = re.compile(r"\s+".join(map(re.escape, ticks)))
    drawn = 0
    for number, page in enumerate(pages, 1):
        there = sum(bool(re.search(rf"^ *{re.escape(title)}(,|  |$)", page, re.M)) for title in titles)
        expect(len(axis.findall(page)) == there, f"page {number}: {there} charts, {len(axis.findall(page))} axes\n{page}")
        drawn += there
    expect(drawn == len(titles), f"{drawn} of {len(titles)} charts are drawn")


def margins(path):
    words = read("pdftotext", "-bbox", path, "-")
    wide = float(re.search(r'<page width="([0-9.]+)"', words)[1])
    for right, word in re.findall(r'<word [^>]*xMax="([0-9.]+)"[^>]*>([^<]*)', words):
        expect(float(right) <= wide - MARGIN_PT + 1, f"{word} goes beyond the margin: {right} of {wide} pt")


def main():
    page_path, *kept = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, browser.Browser() as page:
        page.open(page_path)
        pdf = pathlib.Path(kept[0] if kept else f"{folder}/page.pdf")
        titles, ticks, below, rows, footer = map(page.value, (TITLES, PRINTED_TICKS, BELOW, ROWS, FOOTER))
        pdf.write_bytes(page.print())
        expect(not page.complaints, f"nothing complains: {page.complaints}")
        expect(page.value("document.querySelectorAll('.axis').length") == 1, "afterwards it is as it was")
        text = read("pdftotext", "-layout", pdf, "-")
        expect(text.count("\f") > 1, "it takes more than one page")
        expect(len(titles) > 3 and len(ticks) > 2 and len(rows) > 5, f"there is something to print: {titles} {ticks}")
        charts(text, titles, ticks, below)
        paper = squeezed(read("pdftotext", "-raw", pdf, "-"))
        for part in [*rows, *footer]:
            expect(squeezed(part) in paper, f"printed: {part}")
        margins(pdf)
    print(f"printed on {text.count(chr(12))} pages")


if __name__ == "__main__":
    main()
