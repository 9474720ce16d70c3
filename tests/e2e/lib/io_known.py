#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_known.py RUN profile|trace|count [THREADS]: whether RUN has exactly the calls of tests/workloads/io_known.c."""
import sys

import io_calls

CHILDREN = 3
# count, bytes, errors of one thread by function and file; "" is no file
CALLS = {
    ("open", "known"): (1, 0, 0), ("open", "sent"): (1, 0, 0), ("open", "missing"): (3, 0, 3),
    ("write", "known"): (23, 23 * 4099, 0), ("write", ""): (5, 0, 5),
    ("lseek", "known"): (7, 0, 0), ("lseek", ""): (1, 0, 1),
    ("read", "known"): (19 + 1 + 1 + 5, 19 * 4099 + 1000 + 5 * 13, 0), ("read", ""): (3, 0, 3),
    ("pread", "known"): (11, 11 * 1021, 0), ("pwrite", "known"): (3, 3 * 77, 0),
    ("readv", "known"): (9, 9 * (101 + 203 + 307), 0), ("writev", "known"): (3, 3 * (11 + 13), 0),
    ("fsync", "known"): (3, 0, 0), ("fsync", ""): (1, 0, 1),
    ("dup", "known"): (5, 0, 0),
    ("stat", "known"): (13, 0, 0), ("stat", "missing"): (3, 0, 3),
    ("mmap", "known"): (3, 0, 0), ("mmap", ""): (1, 0, 1), ("munmap", ""): (3, 0, 0),
    ("sendfile", "known"): (7, 7 * 2053, 0),
    ("close", "known"): (1 + 5, 0, 0), ("close", "sent"): (1, 0, 0), ("close", ""): (1, 0, 1),
    ("fopen", "text"): (2, 0, 0), ("fopen", "missing"): (1, 0, 1),
    ("fwrite", "text"): (17, 17 * 3 * 37, 0), ("fprintf", "text"): (29, 29 * 21, 0),
    ("fread", "text"): (15, 15 * 101, 0), ("fclose", "text"): (2, 0, 0),
}


def expected(threads):
    table = {}
    for child in range(CHILDREN):
        for thread in range(threads):
            for (function, file), values in CALLS.items():
                io_calls.add(table, (function, file and f"{file}-{child}-{thread}"), values)
    return table


def main():
    run, mode = sys.argv[1:3]
    threads = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    return io_calls.compare(run, io_calls.total(io_calls.recorded_by(run, mode)), expected(threads))


if __name__ == "__main__":
    sys.exit(main())
