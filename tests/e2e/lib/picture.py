#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""picture.py FILE PICTURE.png [WIDTHxHEIGHT [light|dark]]: what a browser shows of a page or an SVG file."""
import sys

import browser


def main():
    path, picture, size, scheme = (sys.argv[1:] + ["1200x800", "light"][len(sys.argv) - 3:])[:4]
    width, height = map(int, size.split("x"))
    with browser.Browser(width, height) as page:
        page.prefer(scheme)
        page.open(path)
        page.screenshot(picture)
        if page.complaints:
            sys.exit(f"{path} complains: {page.complaints}")


if __name__ == "__main__":
    main()
