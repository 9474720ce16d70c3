#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_same.py RUN OTHER profile|trace: whether the layer sys of both has the same system calls, of every function and
file as many, with the same bytes and errors; and whether RUN has any of a file of ours. RUN may have one mmap without a
file more for each program: the loader's list of libraries may have filled its first pages."""
import re
import sys

import io_calls

PROFILE = ("select name, file, sum(count) as n, sum(bytes) as b, sum(errors) as e from counters where layer = 'sys' "
           "group by all")
TRACE = ("select name, file, count(*) as n, sum(bytes) as b, count(*) filter (result < 0) as e from spans "
         "where layer = 'sys' group by all")
OURS = "select distinct name, file from {0} where layer <> 'c' and (file like '%libfathom-%' or file like '%.spool')"

ANONYMOUS = ("mmap", "")


def calls_of(run, mode):
    table = {}
    for row in io_calls.query(run, TRACE if mode == "trace" else PROFILE):
        file = re.sub(r"^(socket|pipe):.*", r"\1", row["file"])  # whose numbers are new each time
        io_calls.add(table, (row["name"], file), [int(row[key] or 0) for key in "nbe"])
    return table


def main():
    run, other, mode = sys.argv[1:]
    found, expected = calls_of(run, mode), calls_of(other, mode)
    programs = sum(row[0] for (function, _), row in expected.items() if function == "execve")
    more = found.get(ANONYMOUS, [0])[0] - expected.get(ANONYMOUS, [0])[0]
    if 0 < more <= programs:
        found[ANONYMOUS][0] -= more
    problems = list(io_calls.differences(found, expected))
    if not expected:
        problems.append("nothing was recorded")
    rows = io_calls.query(run, OURS.format("spans" if mode == "trace" else "counters"))
    problems += [f"{row['name']} of {row['file']}, which is ours" for row in rows]
    for problem in problems[:12]:
        print(f"{run}: {problem}", file=sys.stderr)
    print(f"{sum(row[0] for row in found.values())} calls")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
