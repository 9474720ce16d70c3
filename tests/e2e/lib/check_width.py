#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_width.py COLUMNS COMMAND...: runs each on a terminal so wide (a line for a shell) and shows what it wrote; no
line may be wider. None may be empty, either."""
import pathlib
import re
import subprocess
import sys
import unicodedata

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def main():
    columns, *commands = sys.argv[1:]
    terminal = pathlib.Path(__file__).with_name("on_terminal.py")
    failed = False
    for command in commands:
        # The size is set after the start: the shell waits until it is.
        wait = f'until [ "$(stty size)" = "24 {columns}" ]; do :; done; {command}'
        done = subprocess.run([sys.executable, terminal, "--size", f"24x{columns}", "--", "sh", "-c", wait],
                              capture_output=True, check=False)
        text = ESCAPES.sub("", done.stdout.decode()).replace("\r", "")
        print(f"$ {command}\n{text}")
        wide = [line for line in text.splitlines() if width(line) > int(columns)]
        failed = failed or bool(wide) or done.returncode != 0 or not text.strip()
        for line in wide:
            print(f"{width(line)} columns: {line}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
