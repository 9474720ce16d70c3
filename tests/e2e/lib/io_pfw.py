#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_pfw.py RUN FILE GENERATION: whether FILE, which `report --as pfw` wrote, is lines of JSON of that generation and
adds up to what RUN holds. Reads it by itself, with Python's json and gzip."""
import gzip
import json
import sys

import io_calls


def lines_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert lines[0] == "[", lines[0]
    return lines[1:]


def check_form(event, generation):
    args = event["args"]
    if event["ph"] == "M":
        assert generation >= 3 and event["name"] in (("HH", "FH"), ("SH",))[generation - 3], event
        return
    assert isinstance(event["ts"], float if generation < 2 else int) and event["ts"] >= 0, event
    if event["cat"] in ("CPU", "Memory", "Disk", "Network"):
        assert generation >= 2 and event["pid"] == 0, event
        return
    if generation == 0:
        assert event["name"].endswith(" " + event["cat"]) and event["cat"][0] == "[", event
    assert ("id" in event) == (generation == 4), event
    if event["ph"] == "C":
        assert (generation < 4) == ("pid" in event), event
        assert args["count" if generation < 2 else "freq"] > 0, event
    if generation < 3:
        assert set(args) >= {"size_sum", "fname", "hostname"}, event


def main():
    run, path, generation = sys.argv[1], sys.argv[2], int(sys.argv[3])
    lines = lines_of(path)
    if generation >= 3:
        assert lines.pop() == "]"
    sums, files, names = {}, set(), {}
    for event in map(json.loads, lines):
        check_form(event, generation)
        args = event["args"]
        if event["ph"] == "M":
            names[args["hash" if generation == 4 else "value"]] = args["value" if generation == 4 else "name"]
        if event["ph"] == "M" or event["cat"] in ("CPU", "Memory", "Disk", "Network"):
            continue
        layer = event["cat"].strip("[]").replace("libc.so.6", "c")
        row = sums.setdefault(layer, [0, 0])
        row[0] += args.get("count", args.get("freq", 1))
        row[1] += args.get("size_sum") or 0
        files.add(names[args["fhash"]] if "fhash" in args else args.get("fname"))
    found = {row["layer"]: [int(row["n"]), int(row["b"] or 0)] for row in io_calls.query(
        run, "select layer, sum(n) as n, sum(b) as b from (select layer, count as n, bytes as b from counters "
             "union all select layer, 1, bytes from spans) group by 1")}
    assert sums == found, (sums, found)
    known = {row["file"] for row in io_calls.query(run, "select file from counters union select file from spans")}
    assert files - {None} == known - {""}, files ^ known
    print("same")


if __name__ == "__main__":
    main()
