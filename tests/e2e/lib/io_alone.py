#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_alone.py known|tally: whether ./profile.pfw, which the I/O library wrote without a recorder, has exactly the
calls of tests/workloads/io_known.c or those that the workload counted itself, in the form of seed 003 (G0), and
nothing else of the library is left here."""
import json
import os
import sys

import io_calls
import io_known
import io_tally

KEYS = {"pid": int, "tid": int, "name": str, "cat": str, "ph": str, "ts": float, "args": dict}


def by_function(table):
    sums = {}
    for (function, _), row in table.items():
        sums[function] = sums.get(function, 0) + row[0]
    return sums


def check_line(line):
    assert {key: type(value) for key, value in line.items()} == KEYS, line
    assert line["name"].endswith(" [libc.so.6]") and line["cat"] == "[libc.so.6]" and line["ph"] == "C", line
    assert list(line["args"]) == ["count", "time"], line
    assert line["args"]["count"] > 0 and line["args"]["time"] >= 0 and line["ts"] > 0, line


def read(path):
    with open(path, encoding="utf-8") as file:
        first, *lines = file.read().splitlines()
    assert first == "[", first
    sums, keys = {}, set()
    for line in map(json.loads, lines):
        check_line(line)
        name = line["name"].split()[0]
        sums[io_calls.SAME.get(name, name)] = sums.get(io_calls.SAME.get(name, name), 0) + line["args"]["count"]
        keys.add((line["pid"], line["tid"]))
    return sums, keys


def main():
    sums, threads = read("profile.pfw")
    expected = io_known.expected(5) if sys.argv[1] == "known" else io_tally.read("tally")[0]
    assert sums == by_function(expected), f"found {sums}, expected {by_function(expected)}"
    left = [name for name in os.listdir(".") if name.startswith("profile") and name != "profile.pfw"]
    assert not left, left
    if sys.argv[1] == "known":
        assert len(threads) == 15 and len({pid for pid, _ in threads}) == 3, threads


if __name__ == "__main__":
    sys.exit(main())
