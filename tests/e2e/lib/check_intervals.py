#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_intervals.py PAGE.html [OTHER.html ...]: every interval in the function table of a page of stacks, in a browser.

Prints a line for each row: the function, and its cells. The bounds must surround the value."""
import re
import sys

import browser

ROWS = "[...document.querySelectorAll('#rows tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
PAIR = re.compile(r"([−+]?\d+\.\d+)(?:–| to )([−+]?\d+\.\d+)")


def number(text):
    return float(text.replace("−", "-"))


def main():
    with browser.Browser() as page:
        for path in sys.argv[1:]:
            page.open(path)
            rows = page.value(ROWS)
            if not rows or page.complaints:
                sys.exit(f"{path}: no rows, or {page.complaints}")
            for *cells, name in rows:
                text = " | ".join(cells)
                for low, high in PAIR.findall(text):
                    if not (-100 <= number(low) <= number(high) <= 100):
                        sys.exit(f"{name}: {low} to {high} is not an interval of shares")
                print(f"{name}: {text}")


if __name__ == "__main__":
    main()
