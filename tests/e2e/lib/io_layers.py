#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_layers.py RUN: what layers below system calls say of 23 buffered writes of 4,099 bytes and a fsync,
37 direct writes of 4,096 bytes and 19 such reads, each by a dd of its own; and whether what is outside lasts as long as
what is within. Prints the figures."""
import sys

import io_calls

# Traced requests whose end the kernel does not show are counters.
CALLS = ("select layer, name, file, pid, tid, count as n, bytes as b, time_ns as t, self_time_ns as s from counters union all "
         "by name select layer, name, file, pid, tid, 1 as n, bytes as b, duration_ns as t, null as s from spans")


def total(rows, layer, name, file=None):
    some = [row for row in rows if row["layer"] == layer and row["name"] == name and
            (file is None or io_calls.label(row["file"]) == file)]
    return sum(int(row["n"]) for row in some), sum(int(row["b"] or 0) for row in some)


def time_of(rows, layer, name, file):
    return sum(int(row["t"] or 0) for row in rows
               if row["layer"] == layer and row["name"] == name and io_calls.label(row["file"]) == file)


def blocks_of(rows, names, file):
    """Of the process that wrote or read that file: disks do not know files."""
    pids = {row["pid"] for row in rows if row["layer"] == "sys" and row["name"] in ("read", "write") and
            io_calls.label(row["file"]) == file and int(row["b"] or 0) > 0}
    some = [row for row in rows if row["layer"] == "block" and row["name"] in names and row["pid"] in pids]
    return sum(int(row["n"]) for row in some), sum(int(row["b"] or 0) for row in some)


ISSUED, ENDED = ("sequential", "random"), ("read", "write")


def main():
    run = sys.argv[1]
    rows = io_calls.query(run, CALLS)
    writes, pieces = total(rows, "sys", "write", "buffered"), total(rows, "ext4", "write", "buffered")
    assert pieces[1] == writes[1] == 23 * 4099 and pieces[0] >= 23, (writes, pieces)
    # A write that crosses a page has two pieces; pages that are dirtied, and those written back, are 24.
    assert total(rows, "os_cache", "dirty_folio", "buffered")[0] >= 1, rows
    assert total(rows, "ext4", "writepages", "buffered")[1] == 24 * 4096
    assert total(rows, "ext4", "sync_file", "buffered")[0] == 1
    syncs = time_of(rows, "sys", "fsync", "buffered") >= time_of(rows, "ext4", "sync_file", "buffered") > 0
    longer = time_of(rows, "sys", "write", "buffered") >= time_of(rows, "ext4", "write", "buffered") > 0
    less = all(int(row["s"]) <= int(row["t"]) for row in rows if row["s"] and row["t"])
    direct = total(rows, "sys", "write", "direct")
    # As they are issued: the writer of `direct` is the process that wrote 37 blocks, its reader reads 19.
    issued = blocks_of(rows, ISSUED, "direct")
    blocks = (37 + 19) * 4096
    assert issued[0] >= 37 + 19 and issued[1] - blocks == (issued[0] - 37 - 19) * 4096, issued  # the folder's own
    ended = blocks_of(rows, ENDED, "direct")
    assert ended == issued, (issued, ended)  # dd has returned, so all of its requests have completed
    assert total(rows, "block", "queue")[0] >= issued[0]
    print(f"{writes[0]},{writes[1]} {direct[0]},{direct[1]} {str(syncs and longer and less).lower()}")


if __name__ == "__main__":
    main()
