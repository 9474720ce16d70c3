# SPDX-License-Identifier: Apache-2.0
"""Results of benchmarks, of which bench/all makes the tables of the documentation.

    import results
    results.record("hub", [{"What": "updates per second", "Goal": "1,000,000", "Measured": results.number(2.31e6)}])

A row is an object: its keys are the columns of the table, in this order, and equal in all rows of one name. Values are
text, shown as it is, numbers, shown with three significant digits, or None for an empty cell. A name is declared in the
list of bench/all and shown between `<!-- bench:NAME -->` and `<!-- /bench -->` in a Markdown file. Benchmarks in C++ do
the same through bench/lib/results.h.

Without FATHOM_BENCH_RESULTS, as when a benchmark is run directly, record() does nothing.
"""
import json
import math
import os


def record(name, rows, command=None):
    """Adds rows to the results of `name`. `command` reproduces them; without it, it is what bench/all ran."""
    directory = os.environ.get("FATHOM_BENCH_RESULTS")
    if not directory:
        return
    with open(os.path.join(directory, name + ".jsonl"), "a", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps({"row": row} if command is None else {"row": row, "command": command}) + "\n")


def number(value, unit="", digits=3):
    """A value for people: `digits` significant digits, thousands separated, a space before the unit."""
    value = float(value)
    if not math.isfinite(value):
        return "–"
    decimals = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
    return f"{round(value, decimals):,.{max(0, decimals)}f} {unit}".rstrip()


def seconds(value):
    """A duration in the unit that suits it."""
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return number(value / scale, unit)
    return number(value / 1e-9, "ns")


def judged(text, holds):
    """A measured value, marked where its goal is missed."""
    return text if holds else f"{text}, **missed**"
