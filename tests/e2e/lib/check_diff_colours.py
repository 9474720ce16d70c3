#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_diff_colours.py FILE.html [PICTURE.png]: prints how a page of a difference is coloured, "grey" or "red", "blue".

Every pixel of the canvas is looked at, light and dark."""
import sys

import browser

# Grey: text and its edges are so, too. What is far from it is red or blue.
COLOURS = """(() => {
  const canvas = document.getElementById('flame'), all = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let drawn = 0, red = 0, blue = 0;
  for (let i = 0; i < all.length; i += 4) {
    if (all[i + 3] === 0) continue;
    ++drawn;
    if (all[i] - all[i + 2] > 30) ++red;
    if (all[i + 2] - all[i] > 30) ++blue;
  }
  return {drawn, red, blue};
})()"""


def main():
    path, *picture = sys.argv[1:]
    found = set()
    with browser.Browser() as page:
        for scheme in ("light", "dark"):
            page.prefer(scheme)
            page.open(path)
            if picture and scheme == "light":
                page.screenshot(picture[0])
            colours = page.value(COLOURS)
            if colours["drawn"] < 10000:
                sys.exit(f"nothing is drawn: {colours}")
            found |= {name for name in ("red", "blue") if colours[name] > 0}
        if page.complaints:
            sys.exit(f"the page complains: {page.complaints}")
    print("colours:", *(sorted(found) or ["grey"]))


if __name__ == "__main__":
    main()
