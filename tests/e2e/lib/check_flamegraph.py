#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_flamegraph.py FILE.svg ZOOM SEARCH SHARE [PICTURE.png]: uses a flame graph as a person does.

Clicks on the frame of name ZOOM, searches for SEARCH, which must match SHARE percent, and resets. Nothing may
complain, and the file must hold one script. The picture is of the search."""
import sys

import browser

FRAME = """(() => { for (const g of document.querySelectorAll('.f')) {
  if (g.querySelector('title').textContent.split('\\n')[0] !== %r) continue;
  const box = g.querySelector('rect').getBoundingClientRect(), text = g.querySelector('text');
  return {x: box.x, y: box.y, width: box.width, height: box.height, shown: getComputedStyle(g).display !== 'none',
          label: text ? text.textContent : ''}; } })()"""


def expect(truth, what):
    if not truth:
        sys.exit(f"not so: {what}")


def middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def use(page, zoom, search, share):
    width = page.value("innerWidth")
    expect(page.value("document.documentElement.classList.contains('zoomable')"), "the script ran")
    expect(page.value("document.querySelectorAll('script').length") == 1, "one script")
    expect(page.value("scrollY + innerHeight >= document.documentElement.getBoundingClientRect().height"),
           "the root is in view")
    before = page.value(FRAME % zoom)
    expect(before and before["shown"], f"{zoom} is drawn")
    expect(before["width"] < width / 2, f"{zoom} has room to grow")

    page.move(*middle(before))
    expect(page.value("document.querySelector('.detail').textContent").startswith(zoom), "hovering names the frame")
    page.click(*middle(before))
    after = page.value(FRAME % zoom)
    expect(abs(after["width"] - (width - 20)) < 2, f"a click zooms in: {after}")
    expect(len(after["label"]) >= len(before["label"]) and after["label"], "its name has room now")
    expect(not page.value("document.querySelector('.reset').hidden"), "there is a way back")

    page.key("Escape")
    back = page.value(FRAME % zoom)
    expect(abs(back["width"] - before["width"]) < 0.1, f"Escape zooms out: {back}")
    page.click(*middle(back))
    page.value("document.querySelector('.reset').click()")
    expect(abs(page.value(FRAME % zoom)["width"] - before["width"]) < 0.1, "so does the button")

    page.key("/")
    page.text(search)
    found = page.value("document.querySelector('.found').textContent")
    expect(found == f"matched {share} %", f"search says {found}")
    expect(page.value("document.querySelectorAll('.match').length") > 0, "matches are marked")


def end_search(page):
    page.key("Escape")
    expect(page.value("document.querySelectorAll('.match').length") == 0, "Escape ends the search")
    page.key("f", modifiers=2)
    expect(page.value("document.activeElement.tagName.toLowerCase()") == "input", "Ctrl-F searches")
    page.text("(")
    expect("regular expression" in page.value("document.querySelector('.found').textContent"),
           "what is no regular expression is told")


def main():
    path, zoom, search, share, *picture = sys.argv[1:]
    with browser.Browser() as page:
        page.open(path)
        use(page, zoom, search, share)
        if picture:
            page.screenshot(picture[0])
        end_search(page)
        page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.open(path)
        expect(page.value("document.querySelectorAll('.tools').length") == 0, "no dead tools without scripts")
        expect(page.value(FRAME % zoom)["shown"], "without scripts it is a picture")
        expect(not page.complaints, f"nothing complains: {page.complaints}")
    print("used")


if __name__ == "__main__":
    main()
