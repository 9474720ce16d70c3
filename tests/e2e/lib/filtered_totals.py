#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""filtered_totals.py RUN STRACE FILTER: whether the totals of a filtered trace are those of `strace -f -y -o STRACE` of
the same command: calls and bytes of read, pread64 and write, by file and by process, in counters and spans
together, in the JSON report and in query io-layers."""
import collections
import csv
import io
import json
import os
import re
import subprocess
import sys

FATHOM = os.environ["FATHOM"]
CALL = re.compile(r"^(\d+)\s+(read|write|pread64)\(\d+(?:<([^>]*)>)?, .*\)\s+= (-?\d+)")
ROWS = ("select name, file, pid, sum(n)::bigint as n, sum(b)::bigint as b, sum(e)::bigint as e from ("
        "select name, file, pid, count as n, bytes as b, errors as e from counters where layer = 'sys' union all by name "
        "select name, file, pid, 1 as n, bytes as b, (result < 0)::bigint as e from spans where layer = 'sys') "
        "where name in ('read', 'write', 'pread64') group by all")


def output(*arguments):
    return subprocess.run([FATHOM, *arguments], check=True, stdout=subprocess.PIPE).stdout.decode()


def traced(path):
    """[(pid, name, file, bytes, failed)]: files by the last part of their name."""
    rows = []
    for line in open(path, encoding="utf-8", errors="replace"):
        if match := CALL.match(line):
            result = int(match[4])
            rows.append((int(match[1]), match[2], os.path.basename(match[3] or ""), max(result, 0), int(result < 0)))
    return rows


def sums(rows, key):
    table = collections.defaultdict(lambda: [0, 0, 0])
    for row in rows:
        for i, value in enumerate(row[3:]):
            table[key(row)][i] += value
    return {name: tuple(values) for name, values in table.items()}


def by_process(rows):
    """What each process did, as a sorted list: pids may have wrapped around, so their order says nothing."""
    of_each = collections.defaultdict(dict)
    for (pid, name), values in sums(rows, lambda row: (row[0], row[1])).items():
        of_each[pid][name] = values
    return sorted(sorted(calls.items()) for calls in of_each.values())


def main():
    run, truth, filters = sys.argv[1:4]
    wanted = [(pid, name, file, 1, size, failed) for pid, name, file, size, failed in traced(truth)]
    seen = [(int(row["pid"]), row["name"], os.path.basename(row["file"]), int(row["n"]), int(row["b"] or 0), int(row["e"]))
            for row in csv.DictReader(io.StringIO(output("query", run, "--csv", ROWS)))]
    assert by_process(seen) == by_process(wanted), (filters, by_process(seen), by_process(wanted))
    files = {file for file in ("small", "large") if "--path" not in filters or file in filters or filters.endswith(os.getcwd())}
    of_file = lambda rows: {key: value for key, value in sums(rows, lambda row: row[2]).items() if key in files}
    assert of_file(seen) == of_file(wanted), (filters, of_file(seen), of_file(wanted))
    totals = {name: tuple(sum(row[i] for row in wanted if row[1] == name) for i in (3, 4)) for name in ("read", "write", "pread64")}
    report = json.loads(output("report", run, "--as", "json"))["io"]
    shown = {row["name"]: (row["calls"], row["bytes"]) for row in report["functions"] if row["name"] in totals}
    assert shown == totals, (filters, shown, totals)
    moved = totals["read"][1] + totals["pread64"][1], totals["write"][1]
    assert (report["read_bytes"], report["written_bytes"]) == moved, (filters, report["read_bytes"], report["written_bytes"], moved)
    layers = next(csv.DictReader(io.StringIO(output("query", run, "io-layers", "--csv"))))
    assert (int(layers["read_bytes"]), int(layers["written_bytes"])) == moved, layers
    assert int(layers["calls"]) == report["calls"] and report["traced_calls"] < report["calls"], (layers, report)
    print(f"same as strace: {totals['write'][0]} writes of {totals['write'][1]} bytes with {filters}")


if __name__ == "__main__":
    main()
