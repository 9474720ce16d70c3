#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_sys.py RUN profile|trace [THREADS]: whether the layer sys of RUN has exactly the system calls of
tests/workloads/io_known.c, and where layer c is there, too, whether every call of that found its system calls: of each
thread and file as many, with the same bytes and errors, and within them in time."""
import sys

import io_calls

CHILDREN = 3
# count, bytes, errors of one thread by function and file; "" is no file
CALLS = {
    ("openat", "known"): (1, 0, 0), ("openat", "sent"): (1, 0, 0), ("openat", "missing"): (3 + 1, 0, 4),
    ("openat", "text"): (2, 0, 0),
    ("write", "known"): (23, 23 * 4099, 0), ("write", ""): (5, 0, 5), ("write", "text"): (1, 17 * 3 * 37 + 29 * 21, 0),
    ("lseek", "known"): (7, 0, 0), ("lseek", ""): (1, 0, 1),
    ("read", "known"): (19 + 1 + 1 + 5, 19 * 4099 + 1000 + 5 * 13, 0), ("read", ""): (3, 0, 3),
    ("read", "text"): (1, 17 * 3 * 37 + 29 * 21, 0),
    ("pread64", "known"): (11, 11 * 1021, 0), ("pwrite64", "known"): (3, 3 * 77, 0),
    ("readv", "known"): (9, 9 * (101 + 203 + 307), 0), ("writev", "known"): (3, 3 * (11 + 13), 0),
    ("fsync", "known"): (3, 0, 0), ("fsync", ""): (1, 0, 1),
    ("dup", "known"): (5, 0, 0),
    ("newfstatat", "known"): (13, 0, 0), ("newfstatat", "missing"): (3, 0, 3),
    ("mmap", "known"): (3, 0, 0),
    ("sendfile", "known"): (7, 7 * 2053, 0),
    ("close", "known"): (1 + 5, 0, 0), ("close", "sent"): (1, 0, 0), ("close", "text"): (2, 0, 0),
    ("close", ""): (1, 0, 1),
    ("exit", ""): (1, 0, 0),
}
# What threads do besides: stacks and heaps; stdio asks for the size of its files' blocks.
NOT_KNOWN = {"mmap", "munmap", "mprotect", "madvise", "brk", "getcwd", "rt_sigprocmask"}
C_NAMES = {"openat": "open", "pread64": "pread", "pwrite64": "pwrite", "newfstatat": "stat"}
PROFILE = ("select pid, tid, name, file, sum(count) as n, sum(bytes) as b, sum(errors) as e, sum(time_ns) as t "
           "from counters where layer = '{0}' and tid <> pid group by all")
TRACE = ("select pid, tid, name, file, count(*) as n, sum(bytes) as b, count(*) filter (result < 0) as e, "
         "sum(duration_ns) as t from spans where layer = '{0}' and tid <> pid group by all")
OUTSIDE = ("select count(*) as n from spans s where s.layer = 'sys' and s.file like '%known-%' and not exists ("
           "select 1 from spans c where c.layer = 'c' and c.pid = s.pid and c.tid = s.tid and c.start_ns <= s.start_ns "
           "and c.start_ns + c.duration_ns >= s.start_ns + s.duration_ns)")


def rows_of(run, mode, layer):
    """{tid: {(function, file): [count, bytes, errors, ns]}}"""
    threads = {}
    for row in io_calls.query(run, (TRACE if mode == "trace" else PROFILE).format(layer)):
        key = (row["name"], io_calls.label(row["file"]))
        table = threads.setdefault((int(row["pid"]), int(row["tid"])), {})
        sums = table.setdefault(key, [0, 0, 0, 0])
        for i, value in enumerate([row["n"], row["b"], row["e"], row["t"]]):
            sums[i] += int(value or 0)
    return threads


def expected_of(child, thread):
    return {(function, file and f"{file}-{child}-{thread}"): list(values) for (function, file), values in CALLS.items()}


def known_part(table):
    return {key: row[:3] for key, row in table.items()
            if not (key[0] in NOT_KNOWN and not key[1].startswith("known")) and not (
                key[0] == "newfstatat" and key[1].startswith("text"))}


def whose(table):
    """The numbers of the child and the thread, told by the file it wrote."""
    for function, file in table:
        if function == "write" and file.startswith("known-"):
            return tuple(int(part) for part in file.split("-")[1:])
    return None


def check_threads(run, mode, count):
    threads = rows_of(run, mode, "sys")
    seen = set()
    for thread, table in threads.items():
        who = whose(table)
        if who is None:
            yield f"thread {thread} did nothing that is known"
            continue
        seen.add(who)
        yield from io_calls.differences(known_part(table), expected_of(*who))
        failed = sum(row[2] for key, row in table.items() if key[0] == "mmap")
        if failed != 1:
            yield f"{failed} of its mmap failed"
    if len(seen) != CHILDREN * count or len(threads) != CHILDREN * count:
        yield f"{len(threads)} threads, {len(seen)} of them different"


def check_outer(run, mode):
    """A call of libc lasts as long as the system calls within it."""
    outer, inner = rows_of(run, mode, "c"), rows_of(run, mode, "sys")
    if outer.keys() != inner.keys():
        yield f"layer c saw {len(outer)} threads, layer sys {len(inner)}"
    for thread, table in inner.items():
        for (function, file), row in table.items():
            if not file.startswith("known") and not file.startswith("sent"):
                continue
            of_c = outer[thread].get((C_NAMES.get(function, function), file))
            if of_c is None or of_c[:3] != row[:3] or of_c[3] < row[3]:
                yield f"{function} of {file}: c {of_c}, sys {row} (count, bytes, errors, ns)"
    if mode == "trace":
        outside = int(io_calls.query(run, OUTSIDE)[0]["n"])
        if outside:
            yield f"{outside} system calls lie within no call of libc"


def main():
    run, mode = sys.argv[1:3]
    problems = list(check_threads(run, mode, int(sys.argv[3]) if len(sys.argv) > 3 else 5))
    if io_calls.query(run, "select count(*) as n from %s where layer = 'c'" %
                      ("spans" if mode == "trace" else "counters"))[0]["n"] != "0":
        problems += check_outer(run, mode)
    _, dropped, why = io_calls.of_probe(run)
    if dropped or why:
        problems.append(f"{dropped} dropped: {why}")
    for problem in problems[:8]:
        print(f"{run}: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
