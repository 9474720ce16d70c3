#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_html.py FILE.html [PICTURE.png]: uses the page of a run as a person does.

Points at the curves, zooms in and out by mouse and keys, prints, looks at it in the dark, on a narrow screen and
without scripts. Nothing may complain and nothing may have got in by a name."""
import sys

import browser

BOX = """(() => { const box = document.getElementById('plots').getBoundingClientRect();
  return {x: box.x, y: box.y, width: box.width, height: box.height}; })()"""
TICKS = "Array.from(document.querySelectorAll('.axis text:not(.nowtext)'), text => text.textContent).join()"
OUTPUTS = "Array.from(document.querySelectorAll('.panel output'), output => output.textContent)"
FOREIGN = """Array.from(document.querySelectorAll('*')).filter(element =>
  /^(img|iframe|object|embed|a|b|link|form|input)$/i.test(element.tagName) ||
  Array.from(element.attributes).some(attribute => /^on|^(src|href|style)$/.test(attribute.name))
).map(element => element.outerHTML.slice(0, 80)).filter(text => !/^<div id="(cross|choice)"/.test(text))"""


def expect(truth, what):
    if not truth:
        sys.exit(f"not so: {what}")


def look(page):
    titles = page.value("Array.from(document.querySelectorAll('.panel h3'), title => title.textContent)")
    for title in ("CPU, cores", "Memory, bytes", "Processes"):
        expect(any(found.startswith(title) for found in titles), f"{title} is drawn: {titles}")
    expect(page.value("document.querySelectorAll('.panel .curve').length") > 2, "there are curves")
    expect(page.value("document.querySelectorAll('.bar').length") > 0, "there are processes")
    for table in ("processes", "probes"):
        expect(page.value(f"document.querySelectorAll('#{table} tbody tr').length") > 0, f"a table of {table}")
    expect(page.value("document.querySelectorAll('script').length") == 2, "data and one script")
    foreign = page.value(FOREIGN)
    expect(not foreign, f"nothing got in: {foreign}")
    expect(page.value("document.documentElement.scrollWidth <= innerWidth"), "the page fits the window")


def hover(page):
    page.value("document.getElementById('plots').scrollIntoView()")
    box = page.value(BOX)
    expect(page.value(OUTPUTS)[0].startswith("highest "), "the highest values are shown")
    page.move(box["x"] + box["width"] / 2, box["y"] + 60)
    expect(not page.value("document.getElementById('cross').hidden"), "there is a crosshair")
    expect(not any(text.startswith("highest ") for text in page.value(OUTPUTS)), "each curve tells its value")
    expect(page.value("document.querySelectorAll('.nowtext').length") == 1, "the axis tells the time")


def zoom(page):
    box, before = page.value(BOX), page.value(TICKS)
    page.drag(box["x"] + box["width"] * 0.4, box["y"] + 60, box["x"] + box["width"] * 0.5, box["y"] + 60)
    expect(page.value(TICKS) != before, "dragging zooms in")
    expect(not page.value("document.getElementById('reset').disabled"), "there is a way back")
    page.value("document.getElementById('reset').click()")
    expect(page.value(TICKS) == before, f"the button shows all: {page.value(TICKS)}")


def keys(page):
    expect(page.value("document.activeElement.id") == "plots", "the curves have the focus")
    before = page.value(TICKS)
    page.key("ArrowRight")
    expect(page.value("document.getElementById('spoken').textContent").startswith("At "), "values are read out")
    page.key("+")
    expect(not page.value("document.getElementById('reset').disabled"), "+ zooms in")
    page.key("Escape")
    expect(page.value("document.getElementById('reset').disabled"), "Escape shows all")
    expect(page.value(TICKS) == before, "as before")


def surroundings(page, path):
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.value(background)
    page.prefer("dark")
    expect(page.value(background) != light, "it is dark in the dark")
    page.prefer("light")
    expect(page.print().startswith(b"%PDF"), "it prints")
    page.call("Emulation.setDeviceMetricsOverride", **{**page.size, "width": 390})
    page.open(path)
    expect(page.value("document.documentElement.scrollWidth") <= 390, "it fits a narrow screen")
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.open(path)
    expect(page.value("document.querySelector('.tools').hidden"), "no dead tools without scripts")
    expect(page.value("document.querySelectorAll('#processes tbody tr').length") > 0, "without scripts there are tables")


def main():
    path, *picture = sys.argv[1:]
    with browser.Browser() as page:
        page.open(path)
        look(page)
        hover(page)
        if picture:
            page.screenshot(picture[0])
        zoom(page)
        keys(page)
        surroundings(page, path)
        expect(not page.complaints, f"nothing complains: {page.complaints}")
    print("used")


if __name__ == "__main__":
    main()
