#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_tally.py RUN profile|trace|count [forked|sanitized]: whether RUN has exactly the calls that the workload counted itself
in ./tally (tests/workloads/io_tally.h).

forked: children were forked in signal handlers and went on where their parent was. Whether that was just before
a call on the parent's file, which then is theirs, nobody knows: each may have one more.
sanitized: the address sanitizer maps memory for itself."""
import struct
import sys

import io_calls

NAMES_BYTES = 8192
MOST_BYTES = 4099  # of one call


def read(path):
    """{(function, file): [count, bytes, errors]}, and the calls that may be there too."""
    with open(path, "rb") as file:
        data = file.read()
    functions, files = (line.split() for line in data[:data.index(b"\0")].decode().splitlines())
    numbers = struct.iter_unpack("4Q", data[NAMES_BYTES:])
    table, maybe = {}, {}
    for function in functions:
        for name in files:
            *row, more = next(numbers)
            key = (function, "" if name == "none" else name)
            if row[0]:
                table[key] = row
            if more:
                maybe[key] = more
    return table, maybe


def settle(found, table, maybe):
    """Takes what may be there for expected where it is within bounds: jumped out of, a call is of no file."""
    for (function, file), more in maybe.items():
        keys = {(function, file), (function, "")}
        row = [sum(found.get(key, [0, 0, 0])[i] for key in keys) for i in range(3)]
        least = [sum(table.get(key, [0, 0, 0])[i] for key in keys) for i in range(3)]
        if all(low <= value <= low + more * size for low, value, size in zip(least, row, (1, MOST_BYTES, 1))):
            for key in keys:
                table.pop(key, None)
                if key in found:
                    table[key] = found[key]


def take_away_one_each(processes, table):
    """What a forked child began itself, of what only its parent should do. No more than one."""
    parent = max(processes, key=lambda pid: sum(row[0] for row in processes[pid].values()))
    for pid, rows in processes.items():
        more = [key for key in rows if pid != parent and key[1] in ("main", "")]
        if sum(rows[key][0] for key in more) == 1:
            io_calls.add(table, more[0], rows[more[0]])


def main():
    run, mode = sys.argv[1:3]
    table, maybe = read("tally")
    if not table:
        sys.exit("the workload counted nothing")
    processes = io_calls.recorded_by(run, mode)
    if sys.argv[3:] == ["forked"]:
        take_away_one_each(processes, table)
    found = io_calls.total(processes)
    if sys.argv[3:] == ["sanitized"] and ("mmap", "") in found:
        table[("mmap", "")] = found[("mmap", "")]
    settle(found, table, maybe)
    return io_calls.compare(run, found, table)


if __name__ == "__main__":
    sys.exit(main())
