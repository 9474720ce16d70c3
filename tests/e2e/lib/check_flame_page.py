#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_flame_page.py FILE.html SEARCH SHARE [PICTURE.png]: uses a page of stacks as a person does.

Walks by keys, zooms, turns the picture both ways, searches for SEARCH, which must match SHARE percent ("a → b" in a
diff), and uses the table. Nothing may complain. The picture is of the page as it opens."""
import sys

import browser

# What the canvas shows at the left of its lowest or highest row.
PIXELS = "document.getElementById('flame').toDataURL()"
TEXT = "document.getElementById('%s').textContent"


def expect(truth, what):
    if not truth:
        sys.exit(f"not so: {what}")


def focus(page):
    page.value("document.getElementById('flame').focus()")


def walk(page):
    focus(page)
    start = page.value(PIXELS)
    page.key("ArrowUp")
    expect(page.value(TEXT % "detail").startswith("all"), "the first key chooses everything")
    page.key("ArrowUp")
    first = page.value(TEXT % "detail")
    expect(not first.startswith("all") and "%" in first, f"an arrow goes to a frame and says its share: {first}")
    page.key("Enter")
    expect(not page.value("document.getElementById('reset').hidden"), "Enter zooms in")
    page.key("Escape")
    expect(page.value("document.getElementById('reset').hidden"), "Escape zooms out")
    page.key("i")
    expect(page.value("document.getElementById('flip').getAttribute('aria-pressed')") == "true", "i turns it over")
    expect(page.value(PIXELS) != start, "and it looks different")
    page.key("i")
    page.key("r")
    expect(page.value("document.getElementById('turn').getAttribute('aria-pressed')") == "true", "r begins at the leaves")
    page.key("ArrowUp")
    page.key("r")


def search(page, words, share):
    page.key("/")
    page.text(words)
    found = page.value(TEXT % "found")
    expect(found == f"matched {share}", f"search says {found}")
    page.key("Escape")
    expect(page.value(TEXT % "found") == "", "Escape ends the search")
    page.key("f", modifiers=2)
    page.text("(")
    expect("regular expression" in page.value(TEXT % "found"), "what is no regular expression is told")
    page.key("Escape")


def table(page):
    rows = page.value("document.querySelectorAll('#rows tr').length")
    expect(rows > 0, "the table has rows")
    name = page.value("document.querySelector('#rows td.name').textContent")
    page.value("document.querySelector('#rows tr').click()")
    expect("matched" in page.value(TEXT % "found"), f"a click on {name} marks it")
    page.key("Escape")
    page.value("document.querySelector('th[data-sort=total] button').click()")
    expect(page.value("document.querySelector('th[data-sort=total]').ariaSort") == "descending", "columns sort")
    page.key("t")
    expect(page.value("document.getElementById('table').hidden"), "t hides it")
    page.key("t")


def hover(page):
    box = page.value("(() => { const b = document.getElementById('flame').getBoundingClientRect();"
                     " return {x: b.x, y: b.y, height: b.height}; })()")
    low = page.value("document.getElementById('flip').getAttribute('aria-pressed')") != "true"
    y = box["y"] + box["height"] - 27 if low else box["y"] + 27
    page.move(box["x"] + 6, y)
    tip = page.value(TEXT % "tip")
    expect("%" in tip, f"pointing shows figures: {tip}")
    page.click(box["x"] + 6, y)
    page.key("Escape")
    return tip


def main():
    path, words, share, *picture = sys.argv[1:]
    with browser.Browser() as page:
        page.open(path)
        expect(page.value("document.body.className") == "ready", f"the script ran: {page.complaints}")
        if picture:
            page.screenshot(picture[0])
        hover(page)
        walk(page)
        search(page, words, share)
        table(page)
        page.prefer("dark")
        page.value("document.getElementById('flame').focus()")
        expect(not page.complaints, f"nothing complains: {page.complaints}")
        page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.open(path)
        expect(not page.complaints, f"nothing complains without scripts: {page.complaints}")
    print("used")


if __name__ == "__main__":
    main()
